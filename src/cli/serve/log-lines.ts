/** A line of the log for people: local time, level, message and fields, on one line that holds nothing which a terminal would obey. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { Environment } from '../../config/substitution.ts';
import { oneLine } from '../inspect/one-line.ts';

const textChars = 200;
const fieldsMax = 16;
const itemsMax = 10;
/** Fields of every line of pino, which the text leaves out or writes in its own way. */
const leftOut: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'todo']);

const levels: { readonly [level: string]: { readonly word: string; readonly colour: number } } = {
  10: { word: 'TRACE', colour: 90 },
  20: { word: 'DEBUG', colour: 90 },
  30: { word: 'INFO', colour: 32 },
  40: { word: 'WARN', colour: 33 },
  50: { word: 'ERROR', colour: 31 },
  60: { word: 'FATAL', colour: 31 },
};

/** Colours are for terminals that have them and people who have not refused them (no-color.org). */
export function hasColours(isTerminal: boolean, env: Environment): boolean {
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** `json`: one line as the logger writes it; any other text goes out unchanged but for control characters. */
export function logLine(json: string, { colours }: { readonly colours: boolean }): string {
  const line = parsed(json);
  if (line === undefined) return oneLine(json, textChars);
  const { word, colour } = levels[String(member(line, 'level'))] ?? { word: 'LOG', colour: 0 };
  const level = word.padEnd(5);
  const fields = Object.entries(line)
    .filter(([name]) => !leftOut.has(name))
    .slice(0, fieldsMax)
    .map(([name, value]) => `${oneLine(name, 40)}=${valueText(value)}`);
  const todo = member(line, 'todo');
  return [
    timeOf(member(line, 'time')),
    colours ? `\u001b[${colour}m${level}\u001b[0m` : level,
    [oneLine(String(member(line, 'msg') ?? ''), textChars), ...fields].join('  '),
    ...(typeof todo === 'string' ? [`→ ${oneLine(todo, textChars * 2)}`] : []),
  ].join(' ');
}

function parsed(json: string): JsonObject | undefined {
  try {
    const value = JSON.parse(json) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function timeOf(time: JsonValue | undefined): string {
  const at = new Date(typeof time === 'number' ? time : Number.NaN);
  if (Number.isNaN(at.getTime())) return '--:--:--';
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

function valueText(value: JsonValue): string {
  if (isJsonArray(value))
    return value.length === 0
      ? 'none'
      : [...value.slice(0, itemsMax).map(valueText), ...(value.length > itemsMax ? [`${value.length - itemsMax} more`] : [])].join(',');
  const text = oneLine(typeof value === 'string' ? value : JSON.stringify(value), textChars);
  return /[\s",=]/.test(text) || text === '' ? `"${text}"` : text;
}
