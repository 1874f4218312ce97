/** XML and YAML. */
import { parseXml, XmlError } from '@rgrove/parse-xml';
import { Composer, Parser } from 'yaml';
import { checkedBy, firstProblem, lineAt } from './readings.ts';
import type { Check } from './readings.ts';

const asDocument = checkedBy(
  (code) => parseXml(code.trim(), { ignoreUndefinedEntities: true }),
  (error): error is XmlError => error instanceof XmlError,
);

/** Also a part of a document. */
export const xmlProblem: Check = (code) =>
  firstProblem([[asDocument, code], ...(code.includes('<') ? [[asDocument, `<excerpt>${code}</excerpt>`] as const] : [])]);

/** Any number of documents; values are not made of them, so that aliases cost nothing. */
export const yamlProblem: Check = (code) => {
  // Keys given twice are not looked for: the comparison takes the square of their number.
  for (const document of new Composer({ uniqueKeys: false }).compose(new Parser().parse(code))) {
    const [first] = document.errors;
    if (first !== undefined) return `${first.message} in line ${lineAt(code, first.pos[0])}`;
  }
  return undefined;
};
