/** Reports a budget that never runs out. */
export const endlessBudget = {
  "x-ratelimit-policy": '"default";q=1000000000;w=60',
  "x-ratelimit": '"default";r=999999999;t=0',
};
