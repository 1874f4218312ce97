/** When a tool that is expected by name is the tool that was called. */

/** What tool spans may carry of a name: SDKs replace blanks and drop or cut the rest. */
const sanitisedMax = 64;

/** Equal names, or names that an SDK would have made equal. Names with letters beyond ASCII are never sanitised: all would be lost. */
export function sameTool(expected: string, called: string): boolean {
  if (expected === called) return true;
  if (foreignLetter.test(expected) || foreignLetter.test(called)) return false;
  const name = sanitised(expected);
  return name !== '' && name === sanitised(called);
}

const foreignLetter = /[^\P{L}A-Za-z]/u;

function sanitised(name: string): string {
  return name.replaceAll(/\s/g, '_').replaceAll(/[^A-Za-z0-9_-]/g, '').slice(0, sanitisedMax);
}
