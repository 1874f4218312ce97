/** Elements of an XML report. */

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
