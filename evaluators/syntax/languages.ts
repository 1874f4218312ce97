/** The languages whose syntax is checked. A new one is a row here. */
import { parseJson } from '../../src/model/json.ts';
import { cssProblem, rustProblem } from './grammars.ts';
import { javascriptProblem, typescriptProblem } from './javascript.ts';
import { xmlProblem, yamlProblem } from './markup.ts';
import { phpProblem } from './php.ts';
import { pythonProblem } from './python.ts';
import type { Check } from './readings.ts';
import { shellProblem } from './shell.ts';

export interface Language {
  /** As fences name it, in lower case. */
  readonly fences: readonly string[];
  readonly problem: Check;
}

export const languages = {
  json: { fences: ['json'], problem: (code) => (parseJson(code) === undefined ? 'it is no JSON' : undefined) },
  javascript: { fences: ['js', 'javascript', 'jsx', 'mjs', 'cjs', 'node'], problem: javascriptProblem },
  typescript: { fences: ['ts', 'typescript', 'tsx', 'mts', 'cts'], problem: typescriptProblem },
  python: { fences: ['py', 'python', 'python3', 'py3'], problem: pythonProblem },
  php: { fences: ['php'], problem: phpProblem },
  rust: { fences: ['rs', 'rust'], problem: rustProblem },
  shell: { fences: ['sh', 'bash', 'shell'], problem: shellProblem },
  css: { fences: ['css'], problem: cssProblem },
  xml: { fences: ['xml', 'svg', 'xsd', 'xsl'], problem: xmlProblem },
  yaml: { fences: ['yaml', 'yml'], problem: yamlProblem },
} as const satisfies { readonly [language: string]: Language };

export type CodeLanguage = keyof typeof languages;
