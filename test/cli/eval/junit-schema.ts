/** The usual JUnit schema (Jenkins, GitLab, GitHub reporters), as far as it can be checked without an XML package: elements, attributes, order, counts. */

export interface XmlElement {
  readonly name: string;
  readonly attributes: { readonly [name: string]: string };
  readonly parent: string;
  readonly path: readonly number[];
}

const allowed: {
  readonly [name: string]: {
    readonly parents: readonly string[];
    readonly required: readonly string[];
    readonly optional: readonly string[];
  };
} = {
  testsuites: { parents: [''], required: [], optional: ['name', 'tests', 'failures', 'errors', 'skipped', 'time'] },
  testsuite: {
    parents: ['testsuites'],
    required: ['name', 'tests', 'failures', 'errors', 'skipped'],
    optional: ['time', 'timestamp', 'hostname', 'id'],
  },
  testcase: { parents: ['testsuite'], required: ['name', 'classname'], optional: ['time', 'assertions'] },
  failure: { parents: ['testcase'], required: [], optional: ['type', 'message'] },
  error: { parents: ['testcase'], required: [], optional: ['type', 'message'] },
  'system-out': { parents: ['testcase'], required: [], optional: [] },
  skipped: { parents: ['testcase'], required: [], optional: ['message'] },
};

/** The faults of a document; empty without any. */
export function junitFaults(xml: string): readonly string[] {
  const faults: string[] = [];
  if (!xml.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n')) faults.push('has no declaration');
  if (/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(xml)) faults.push('holds a character that XML has not');
  let elements: readonly XmlElement[] = [];
  try {
    elements = xmlElements(xml);
  } catch (error) {
    return [...faults, String(error)];
  }
  for (const { name, attributes, parent } of elements) {
    const rule = allowed[name];
    if (rule === undefined || !rule.parents.includes(parent)) faults.push(`<${name}> in <${parent}>`);
    else
      faults.push(
        ...rule.required.filter((key) => attributes[key] === undefined).map((key) => `<${name}> lacks ${key}`),
        ...Object.keys(attributes)
          .filter((key) => !rule.required.includes(key) && !rule.optional.includes(key))
          .map((key) => `<${name}> has ${key}`),
      );
  }
  for (const suite of elements.filter(({ name }) => name === 'testsuite')) {
    const inside = elements.filter(({ path }) => path.length > suite.path.length && suite.path.every((step, at) => path[at] === step));
    for (const [key, name] of [
      ['tests', 'testcase'],
      ['failures', 'failure'],
      ['errors', 'error'],
      ['skipped', 'skipped'],
    ] as const) {
      const count = inside.filter((one) => one.name === name).length;
      if (suite.attributes[key] !== String(count)) faults.push(`${key} is ${suite.attributes[key]}, there are ${count}`);
    }
  }
  return faults;
}

/** Every element in order. Throws at the first place that is not well formed. */
export function xmlElements(xml: string): readonly XmlElement[] {
  const found: XmlElement[] = [];
  const open: { readonly name: string; readonly path: readonly number[] }[] = [];
  let rest = xml.replace(/^<\?xml[^?]*\?>\n/, '');
  while (rest !== '') {
    const [whole, close, name = '', written = '', single, text = ''] =
      /^(?:<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>|([^<]+))/.exec(rest) ?? [];
    if (whole === undefined) throw new Error(`not well formed at ${JSON.stringify(rest.slice(0, 60))}`);
    rest = rest.slice(whole.length);
    if (name === '') {
      if (text.trim() !== '' && !['failure', 'system-out'].includes(open.at(-1)?.name ?? ''))
        throw new Error(`text in <${open.at(-1)?.name ?? ''}>`);
      unescaped(text);
    } else if (close === '/') {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes nothing`);
    } else {
      const path = [...(open.at(-1)?.path ?? []), found.length];
      found.push({
        name,
        attributes: Object.fromEntries(
          [...written.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, unescaped(value)]),
        ),
        parent: open.at(-1)?.name ?? '',
        path,
      });
      if (single !== '/') open.push({ name, path });
    }
  }
  if (open.length > 0 || found.filter(({ parent }) => parent === '').length !== 1) throw new Error('there is not one whole root');
  return found;
}

function unescaped(text: string): string {
  return text.replaceAll(/&(\w+|#\d+)?(;)?/g, (whole, name: string, end: string | undefined) => {
    const known: { readonly [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
    const sign = name?.startsWith('#') === true ? String.fromCodePoint(Number(name.slice(1))) : known[name];
    if (end === undefined || sign === undefined) throw new Error(`${whole} is not a reference`);
    return sign;
  });
}
