/** Optional members may be `undefined` here. */
type Given<Members> = {
  readonly [Key in keyof Members]: Record<never, never> extends Pick<Members, Key> ? Members[Key] | undefined : Members[Key];
};

/** The object without its `undefined` members. Its type is the one that the caller expects. */
export function present<Members extends object>(members: Given<NoInfer<Members>>): Members {
  const kept: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(members)) if (value !== undefined) kept[key] = value;
  return kept as Members;
}
