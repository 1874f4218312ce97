/** Which bodies hold runs and labels as JSON of their own, and not spans. */
import { isJsonObject, type JsonValue } from '../../model/json.ts';

/** A key of an OTLP request near the beginning. */
const OTLP_KEY = /"resource_?(?:spans|logs|metrics)"/i;
const otlpKeyBytes = 1_000;

/** Undefined when the body holds spans or is no JSON. */
export function givenText(bytes: Buffer): string | undefined {
  if (OTLP_KEY.test(bytes.toString('utf8', 0, otlpKeyBytes))) return undefined;
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  return /^\s*[[{]/.test(text) ? text : undefined;
}

export function isOtlp(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).some((key) => OTLP_KEY.test(JSON.stringify(key)));
}

export interface GivenLine {
  readonly where: string;
  readonly text: string;
  /** Number of the line, from 1. */
  readonly line: number;
}

/** Without the blank ones; places as messages name them. */
export function givenLines(name: string, text: string): readonly GivenLine[] {
  return text
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [{ where: `${name}: line ${at + 1}`, text: line, line: at + 1 }]));
}
