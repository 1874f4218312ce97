/** How far an import is: a small file, so that the next start goes on behind the last page that the service acknowledged. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isJsonObject, member, parseJson } from '../../model/json.ts';
import type { Micros } from '../../model/timestamp.ts';

export interface ImportProgress {
  /** The options of the period, as text: the next start goes on when it has the same. */
  readonly asked: string;
  /** The period that is read. */
  readonly from: Micros;
  readonly to: Micros;
  /** Undefined: before the first page. */
  readonly cursor: string | undefined;
  readonly spans: number;
  readonly isDone: boolean;
}

/** Undefined: there is none, or none that can be read; an import from the beginning changes nothing that is scored. */
export function readProgress(file: string): ImportProgress | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const found = parseJson(text);
  if (!isJsonObject(found)) return undefined;
  const number = (key: string): number => Number(member(found, key));
  const cursor = member(found, 'cursor');
  const progress = { from: number('from_us'), to: number('to_us'), spans: number('spans') };
  if (!Object.values(progress).every(Number.isSafeInteger)) return undefined;
  const asked = String(member(found, 'asked'));
  return { asked, ...progress, cursor: typeof cursor === 'string' ? cursor : undefined, isDone: member(found, 'done') === true };
}

export function writeProgress(file: string, { asked, from, to, cursor, spans, isDone }: ImportProgress): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify({ asked, from_us: from, to_us: to, cursor, spans, done: isDone })}\n`);
  renameSync(`${file}.new`, file);
}
