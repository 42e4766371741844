/** The key of the hostile tests: with characters that URLs, JSON and HTML write in other ways. */
export const secretKey = 'k3y-5up3r"53cr3t\\<&>%-4d5f6';
