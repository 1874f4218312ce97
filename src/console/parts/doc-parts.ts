const docPage = /(?<![\w/.-])(docs\/[\w/-]+\.md(?:#[\w-]+)?)/;

/** Cuts a text at the names of documentation pages; the parts together are the text. */
export function docParts(text: string): readonly string[] {
  return text.split(docPage).filter((part) => part !== '');
}
