/** A strict reader of OpenMetrics 1.0 text, for tests: refuses what the grammar or the rules of a family do not allow. */

export interface Sample {
  readonly name: string;
  readonly labels: { readonly [label: string]: string };
  readonly value: number;
  readonly exemplar:
    | { readonly labels: { readonly [label: string]: string }; readonly value: number; readonly seconds?: number }
    | undefined;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const suffixes: { readonly [type: string]: readonly string[] } = {
  counter: ['_total'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum'],
};

export function parseOpenMetrics(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n# EOF\n')) throw new Error('the page does not end with # EOF');
  const families = new Map<string, { name: string; type: string; unit: string; help: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current: { name: string; type: string; unit: string; help: string; samples: Sample[] } | undefined;
  for (const line of text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)) {
    const meta = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (meta !== null) {
      const [, kind = '', name = '', rest = ''] = meta;
      if (kind === 'TYPE') {
        if (families.has(name)) throw new Error(`${name} appears twice`);
        if (!Object.hasOwn(suffixes, rest)) throw new Error(`unknown type ${rest}`);
        current = { name, type: rest, unit: '', help: '', samples: [] };
        families.set(name, current);
      } else if (current === undefined || current.name !== name || current.samples.length > 0) throw new Error(`${line} is out of place`);
      else if (kind === 'UNIT') {
        if (!name.endsWith(`_${rest}`)) throw new Error(`${name} does not end with its unit ${rest}`);
        current.unit = rest;
      } else current.help = unescaped(rest);
      continue;
    }
    if (current === undefined) throw new Error(`a sample without a family: ${line}`);
    const sample = parseSample(line);
    const known = suffixes[current.type] ?? [];
    if (!known.some((suffix) => sample.name === `${current?.name}${suffix}`))
      throw new Error(`${sample.name} is not a sample of ${current.name}`);
    const identity = JSON.stringify([
      sample.name,
      Object.entries(sample.labels)
        .map((pair) => JSON.stringify(pair))
        .sort(),
    ]);
    if (seen.has(identity)) throw new Error(`twice: ${line}`);
    seen.add(identity);
    current.samples.push(sample);
  }
  for (const family of families.values()) checkHistogram(family);
  return families;
}

function parseSample(line: string): Sample {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
  if (name === undefined) throw new Error(`no name: ${line}`);
  const labels = parseLabels(line, name.length);
  const rest = /^ (\S+)(?: # (.*))?$/.exec(line.slice(labels.end));
  if (rest === null) throw new Error(`no value: ${line}`);
  const [, value = '', exemplar] = rest;
  return { name, labels: labels.labels, value: number(value), exemplar: exemplar === undefined ? undefined : parseExemplar(exemplar) };
}

function parseExemplar(text: string): NonNullable<Sample['exemplar']> {
  const { labels, end } = parseLabels(text, 0);
  const chars = Object.entries(labels).reduce((sum, [label, value]) => sum + [...label].length + [...value].length, 0);
  if (end === 0 || chars > 128) throw new Error(`not an exemplar: ${text}`);
  const [value = '', seconds, ...more] = text.slice(end + 1).split(' ');
  if (more.length > 0) throw new Error(`not an exemplar: ${text}`);
  return { labels, value: number(value), ...(seconds === undefined ? {} : { seconds: number(seconds) }) };
}

function parseLabels(text: string, start: number): { readonly labels: { readonly [label: string]: string }; readonly end: number } {
  if (text[start] !== '{') return { labels: {}, end: start };
  const pairs: [string, string][] = [];
  const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"([,}])/y;
  pair.lastIndex = start + 1;
  for (;;) {
    const found = pair.exec(text);
    if (found === null) throw new Error(`bad labels: ${text}`);
    const [, label = '', value = '', end] = found;
    if (pairs.some(([known]) => known === label)) throw new Error(`label ${label} twice`);
    pairs.push([label, unescaped(value)]);
    if (end === '}') return { labels: Object.fromEntries(pairs), end: pair.lastIndex };
  }
}

function number(text: string): number {
  if (text === '+Inf') return Infinity;
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) throw new Error(`not a number: ${text}`);
  return Number(text);
}

function unescaped(text: string): string {
  if (/(^|[^\\])(\\\\)*\\($|[^"\\n])/.test(text)) throw new Error(`bad escape in ${text}`);
  return text.replace(/\\(.)/g, (_all, char: string) => (char === 'n' ? '\n' : char));
}

/** Buckets rise, the last is +Inf and equals the count. */
function checkHistogram({ type, name, samples }: Family): void {
  if (type !== 'histogram') return;
  let edge = -Infinity;
  let below = 0;
  for (const sample of samples) {
    if (sample.name === `${name}_bucket`) {
      const le = sample.labels['le'] ?? '';
      if (le !== '+Inf' && !le.includes('.')) throw new Error(`le ${le} is not canonical`);
      if (number(le) <= edge || sample.value < below) throw new Error(`buckets of ${name} do not rise`);
      edge = number(le);
      below = sample.value;
    } else if (sample.name === `${name}_count`) {
      if (edge !== Infinity || sample.value !== below) throw new Error(`the count of ${name} is not that of its last bucket`);
      edge = -Infinity;
      below = 0;
    }
  }
}
