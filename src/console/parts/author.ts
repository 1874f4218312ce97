/** Who makes a change, for the history of what is changed. */

export interface Author {
  readonly by?: string;
}

/** Without a name of a person, the change is the console's. */
export function useAuthor(): Author {
  return { by: 'console' };
}
