/** A JSON value as YAML, as a person writes a configuration. Every JSON text is YAML, so what may be misread stands as JSON. */

/** Lists and mappings that are shorter as JSON take one line. */
const lineMax = 100;
/** Words, paths and addresses without anything that YAML reads otherwise. */
const PLAIN = /^[A-Za-z_/][\w./@-]*(?::\/\/[\w./@:-]+|(?::[\w./@-]+)+)?$/;
/** Durations and sizes. */
const QUANTITY = /^\d+(?:\.\d+)?(?:ms|[smhd]|[KMGT]iB)$/;
const WORDS: ReadonlySet<string> = new Set(['null', 'true', 'false', 'yes', 'no', 'on', 'off', 'y', 'n']);

export function yamlText(value: unknown): string {
  return `${lines(value, '').join('\n')}\n`;
}

function lines(value: unknown, indent: string): readonly string[] {
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((item: unknown) => {
      const [first = '', ...rest] = lines(item, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, item]) => {
      const name = `${indent}${scalar(key)}:`;
      return isShort(item) ? [`${name} ${inline(item)}`] : [name, ...lines(item, `${indent}  `)];
    });
  return [`${indent}${inline(value)}`];
}

function isShort(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const items: readonly unknown[] = Object.values(value);
  return items.length === 0 || (Array.isArray(value) && items.every((item) => typeof item !== 'object') && inline(value).length <= lineMax);
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
  return typeof value === 'string' ? scalar(value) : JSON.stringify(value);
}

function scalar(text: string): string {
  return QUANTITY.test(text) || (PLAIN.test(text) && !WORDS.has(text.toLowerCase())) ? text : JSON.stringify(text);
}
