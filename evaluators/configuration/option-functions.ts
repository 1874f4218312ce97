/** Functions among options: a program can give them, a file cannot. They go beside the options that are checked as data, and come back to their places. */

export interface GivenFunction {
  /** Names as the code has them. */
  readonly path: readonly string[];
  readonly given: (...given: never[]) => unknown;
}

/** The options without the functions that stand at one of these paths, and these. A function elsewhere stays, to be refused with everything else that is no JSON. */
export function partedOptions(
  options: object,
  paths: readonly string[],
): { readonly data: object; readonly functions: readonly GivenFunction[] } {
  const functions: GivenFunction[] = [];
  return {
    data: parted(
      options,
      [],
      paths.map((path) => path.split('.')),
      functions,
    ),
    functions,
  };
}

function parted(options: object, path: readonly string[], paths: readonly (readonly string[])[], functions: GivenFunction[]): object {
  const entries = Object.entries(options).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const own = [...path, name];
    const open = paths.filter((one) => own.every((step, at) => one[at] === '*' || one[at] === step));
    if (isFunction(value) && open.some(({ length }) => length === own.length)) {
      functions.push({ path: own, given: value });
      return [];
    }
    return [
      [
        name,
        typeof value === 'object' && value !== null && !Array.isArray(value) && open.length > 0
          ? parted(value, own, paths, functions)
          : value,
      ],
    ];
  });
  return Object.fromEntries(entries);
}

export function withFunctions(options: unknown, functions: readonly GivenFunction[]): unknown {
  return functions.reduce((all, { path, given }) => placed(all, path, given), options);
}

function placed(options: unknown, [name, ...rest]: readonly string[], given: GivenFunction['given']): unknown {
  if (name === undefined) return given;
  const members = new Map<string, unknown>(typeof options === 'object' && options !== null ? Object.entries(options) : []);
  return Object.fromEntries([...members, [name, placed(members.get(name), rest, given)]]);
}

function isFunction(value: unknown): value is GivenFunction['given'] {
  return typeof value === 'function';
}
