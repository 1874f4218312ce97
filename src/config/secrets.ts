/** Masks secrets: values that the schema marks, and similar texts in a source line. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../model/json.ts';
import type { ConfigDocument, Place } from './document.ts';
import { type Path, ownMembers } from './diagnostic.ts';
import { appliedSchema, memberSchema } from './schema.ts';

/** Replaces a secret. */
export const mask = '***';

/** Masks keys, header values, and the user, the query and possible keys in the path of URLs. */
export function masked(general: JsonObject, value: JsonValue): JsonValue {
  const schema = appliedSchema(general, value);
  const secret = member(schema, 'x-secret');
  if (secret === true && value !== '' && !isJsonObject(value) && !isJsonArray(value)) return mask;
  if (secret === 'url' && typeof value === 'string') return maskedUrl(value);
  if (isJsonArray(value)) return value.map((item) => masked(memberSchema(schema, 0) ?? {}, item));
  if (!isJsonObject(value)) return value;
  return ownMembers(
    Object.entries(value).map(([name, item]) => {
      const below = memberSchema(schema, name) ?? {};
      const isWebhook = member(below, 'x-secret') === 'url' && member(value, 'to') === 'webhook' && typeof item === 'string';
      return [name, isWebhook ? maskedWebhook(item) : masked(below, item)];
    }),
  );
}

/** Paths of values that the schema marks, and of values in the place of a secret or of a mapping with secrets. */
export function secretPaths(general: JsonObject, value: JsonValue, path: Path = []): readonly Path[] {
  const schema = appliedSchema(general, value);
  const secret = member(schema, 'x-secret');
  if (secret === true) return [path];
  if (secret === 'url') return typeof value === 'string' && maskedUrl(value) !== value ? [path] : [];
  if (isJsonArray(value)) return value.flatMap((item, index) => secretPaths(memberSchema(schema, 0) ?? {}, item, [...path, index]));
  if (!isJsonObject(value)) return value !== null && holdsSecrets(schema) ? [path] : [];
  return Object.entries(value).flatMap(([name, item]) => {
    const below = memberSchema(schema, name);
    if (below !== undefined) return secretPaths(below, item, [...path, name]);
    // The name may be a misspelt one of a secret, or of a mapping with secrets.
    return holdsSecretItself(schema) || (typeof item === 'object' && holdsSecrets(schema)) ? [[...path, name]] : [];
  });
}

function holdsSecrets(schema: JsonObject): boolean {
  return schemasBelow(schema).some((below) => member(below, 'x-secret') === true || holdsSecrets(below));
}

function holdsSecretItself(schema: JsonObject): boolean {
  return schemasBelow(schema).some((below) => member(below, 'x-secret') === true);
}

function schemasBelow(schema: JsonObject): readonly JsonObject[] {
  const properties = member(schema, 'properties');
  const named = isJsonObject(properties) ? Object.values(properties) : [];
  return [...named, member(schema, 'items'), member(schema, 'additionalProperties')].filter((below) => isJsonObject(below));
}

/** One line of the file with its secrets masked; `line` counts from 1. */
export function maskedLine(options: {
  readonly text: string;
  readonly line: number;
  readonly document: ConfigDocument;
  readonly secrets: readonly Place[];
}): string {
  const { text, line, document, secrets } = options;
  const start = document.lines.lineStarts[line - 1] ?? 0;
  const end = document.lines.lineStarts[line] ?? text.length;
  const ranges = secrets.filter((place) => place.value < end && place.valueEnd > start);
  let maskedText = '';
  let at = start;
  for (const place of ranges.toSorted((a, b) => a.value - b.value)) {
    const from = Math.max(at, place.value);
    const to = Math.max(at, Math.min(end, place.valueEnd));
    maskedText += text.slice(at, from) + maskedValue(text.slice(from, to));
    at = to;
  }
  return suspiciousMasked((maskedText + text.slice(at, end)).slice(0, lineLengthMax)).trimEnd();
}

/** Keeps the names of variables, for the fault may be an unset variable, and masks everything around them. */
function maskedValue(written: string): string {
  const pieces = written.split(REFERENCE);
  return pieces.length === 1 ? mask : pieces.map((piece, at) => (at % 2 === 1 || /^["'\s]*$/.test(piece) ? piece : mask)).join('');
}

/** A variable without a default value. */
const REFERENCE = /(\$\{env:\w{1,200}\})/;

/** Length of a line in a message; it also bounds the work of the patterns below. */
const lineLengthMax = 500;

/** For a mistyped `api_keyy`, or a file that is not YAML: without a schema the name of the key decides. */
const SUSPICIOUS =
  /((?:(?<!task_)key(?!_file)|token(?!s_per_)|secret|passw(?:or)?d|authorization|credential|value|bearer)[\w-]*["']?\s*[:=]\s*)(?!\s*(?:[[{&*|>]|\*\*\*|["']?\$\{env:\w+\}["']?\s*(?:[,}\]]|$)))("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,}\]#][^,}\]#]*?(?=\s*(?:[,}\]#]|$)))/gi;
const BEARER = /\b(bearer|basic)\s+[^\s"',}\]]+/gi;
/** Up to the last @ before the path: a password may contain one. */
const URL_USER = /(:\/\/)[^/?#\s"']*@/g;
const WEB_ADDRESS = /\bhttps?:\/\/[^\s"'<>,}\]]+/gi;
/** A long part of the path of other addresses. */
const URL_KEY = /(?<=[^/:]\/)[\w-]{20,}(?=[/?#]|$)/g;
/** Harmless parts of a path: words, versions, small numbers. Other parts may be keys, as in addresses of webhooks. */
const GUESSED =
  /^(?:(?:[A-Z]?[a-z]{1,16}\d{0,2}|[a-z\d]{1,3}|v\d{1,2}(?:alpha|beta)\d?)(?:[._-](?:[A-Z]?[a-z]{1,16}\d{0,2}|[a-z\d]{1,3}))*|\d{1,6})?$/;
const guessedCharsMax = 40;

function suspiciousMasked(line: string): string {
  return line
    .replace(SUSPICIOUS, `$1${mask}`)
    .replace(BEARER, `$1 ${mask}`)
    .replace(WEB_ADDRESS, maskedUrl)
    .replace(URL_USER, `$1${mask}@`);
}

/** Masks user, password, query, fragment, and unusual parts of the path. */
export function maskedUrl(url: string): string {
  const [, origin, path = '', rest = ''] = /^([a-z][a-z\d+.-]*:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? [];
  if (origin === undefined) return url.replace(/\?.*$/, `?${mask}`).replace(URL_KEY, mask);
  const parts = path.split('/').map((part) => (part.length <= guessedCharsMax && GUESSED.test(part) ? part : mask));
  return `${origin.replace(URL_USER, `$1${mask}@`)}${parts.join('/')}${rest === '' ? '' : `${rest[0]}${mask}`}`;
}

/** Keeps the host only: a key of a webhook may be a word. */
function maskedWebhook(url: string): string {
  const [, origin, rest = ''] = /^([a-z][a-z\d+.-]*:\/\/[^/?#]*)(.*)$/is.exec(url) ?? [];
  return origin === undefined ? mask : `${origin.replace(URL_USER, `$1${mask}@`)}${rest === '' || rest === '/' ? rest : `/${mask}`}`;
}
