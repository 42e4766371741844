/** The style of the page: strips to swipe on a phone, rows on a desktop, light and dark. */
export const style = `
:root { color-scheme: light dark; --ground: light-dark(#f6f6f4, #111214); --card: light-dark(#ececea, #1d1f22);
  --text: light-dark(#1b1c1e, #ececee); --soft: light-dark(#63656b, #9a9da5); --bad: light-dark(#a4262c, #ff8f88);
  --accent: light-dark(#2b5fd9, #86aaff); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
header { position: sticky; top: 0; z-index: 1; padding: .9rem var(--edge) .8rem; background: var(--ground);
  border-bottom: 1px solid light-dark(#0000001c, #ffffff1c); }
:root { --edge: clamp(1rem, 4vw, 3rem); }
h1 { margin: 0; font-size: 1.25rem; letter-spacing: -.01em; }
header p { margin: .1rem 0 0; color: var(--soft); font-size: .9rem; }
header b { color: var(--text); font-variant-numeric: tabular-nums; }
progress { display: block; width: 100%; height: .3rem; margin-top: .6rem; accent-color: var(--accent); }
progress[hidden] { display: none; }
main { padding: 0 0 4rem; }
details { margin: 1.2rem var(--edge) 0; padding: .8rem 1rem; border-radius: .7rem; background: var(--card); font-size: .92rem; }
summary { cursor: pointer; font-weight: 600; }
ul { margin: .5rem 0 0; padding-left: 1.1rem; color: var(--soft); }
li + li { margin-top: .4rem; }
li b { color: var(--bad); font-weight: 600; }
section { margin-top: 1.8rem; }
h2 { margin: 0 var(--edge) .6rem; font-size: 1rem; }
h2 { display: flex; align-items: center; gap: .6rem; }
.design { width: 1.8rem; height: 2.4rem; border-radius: .25rem; background: var(--card); object-fit: cover; }
.close { display: none; }
.frame:target { position: fixed; inset: 0; z-index: 2; display: grid; grid-template-rows: minmax(0, 1fr) auto; aspect-ratio: auto;
  height: 100dvh; border-radius: 0; background: var(--ground); }
.frame:target a { min-height: 0; }
.frame:target img { object-fit: contain; }
.frame:target .close { display: block; padding: 1rem; text-align: center; color: var(--accent); }
h2 small { margin-left: .4rem; color: var(--bad); font-weight: 500; font-size: .85rem; }
.strip { display: grid; gap: .8rem; padding: 0 var(--edge); grid-template-columns: repeat(5, minmax(0, 1fr)); }
@media (min-width: 75rem) { .strip { grid-template-columns: repeat(10, minmax(0, 1fr)); gap: .7rem; } }
@media (max-width: 42rem) {
  .strip { display: flex; overflow-x: auto; scroll-snap-type: x proximity; scroll-padding-left: var(--edge); padding-bottom: .3rem;
    scrollbar-width: none; }
  figure { flex: 0 0 40vw; scroll-snap-align: start; }
}
figure { margin: 0; min-width: 0; }
.frame { position: relative; aspect-ratio: 3 / 4; overflow: hidden; border-radius: .6rem; background: var(--card); }
.frame img { display: block; width: 100%; height: 100%; object-fit: cover; }
.frame a:focus-visible, .strip:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.frame p { display: grid; place-content: center; height: 100%; margin: 0; padding: .6rem; text-align: center; font-size: .78rem;
  overflow-wrap: anywhere; }
.failed p { color: var(--bad); border: 1.5px dashed currentColor; border-radius: inherit; }
.waiting p { background: linear-gradient(100deg, transparent 30%, light-dark(#ffffffb0, #ffffff14) 50%, transparent 70%) 0 0 / 250% 100%;
  animation: shimmer 1.6s linear infinite; }
@keyframes shimmer { from { background-position: 150% 0; } to { background-position: -100% 0; } }
@media (prefers-reduced-motion: reduce) { .waiting p { animation: none; background: none; } }
figcaption { margin-top: .35rem; color: var(--soft); font-size: .78rem; line-height: 1.3; }
`;
