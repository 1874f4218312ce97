/** Changes that no behaviour can show, by their description, each with the reason. */
export const equivalents: ReadonlyMap<string, string> = new Map([]);
