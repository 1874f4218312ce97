/** Elements of a report in JUnit XML. */

/** The counts of a suite, by their attributes, and the duration of its cases where they have one. */
interface SuiteCounts {
  readonly name: string;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
  readonly time?: string;
}

export function testSuite({ name, ...counts }: SuiteCounts, cases: readonly string[]): string {
  const attributes = Object.entries({ tests: cases.length, ...counts }).map(([key, value]) => [key, String(value)] as const);
  return element('testsuite', { name, ...Object.fromEntries(attributes) }, cases);
}

export function junitReport(suites: readonly string[]): string {
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="tracejury">', ...suites, '</testsuites>'].join('\n');
}

export function element(name: string, attributes: { readonly [name: string]: string }, content: readonly string[]): string {
  const head = `${name}${Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escaped(value)}"`)
    .join('')}`;
  return content.length === 0 ? `<${head}/>` : `<${head}>\n${content.join('\n')}\n</${name}>`;
}

/** Replaces characters that XML 1.0 cannot represent, and keeps line ends in attributes as references. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/[\n\r\t]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
