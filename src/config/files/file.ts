/** The text of a configuration file, within limits. */
import { closeSync, openSync, readSync } from 'node:fs';
import { ConfigError } from '../diagnostic.ts';

/** A configuration is written by hand: more than this is some other file. */
const fileBytesMax = 256 * 1024;

/** Throws a ConfigError when the file cannot be read, is too large or is no text. */
export function configFileText(file: string): string {
  const bytes = fileBytes(file);
  if (bytes.length > fileBytesMax) throw unusable(file, 'is too large for a configuration', `Keep it within ${fileBytesMax} bytes.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unusable(file, 'is not UTF-8 text', 'Save it as UTF-8.');
  }
}

/** At most one byte more than allowed: a device or pipe may have no end. */
function fileBytes(file: string): Uint8Array {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const buffer = new Uint8Array(fileBytesMax + 1);
      let length = 0;
      while (length < buffer.length) {
        const read = readSync(descriptor, buffer, length, buffer.length - length, null);
        if (read === 0) break;
        length += read;
      }
      return buffer.subarray(0, length);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw unusable(file, `cannot be read${code}`, 'Check the path and its permissions.');
  }
}

function unusable(file: string, problem: string, todo: string): ConfigError {
  return new ConfigError([{ file, line: 1, column: 1, key: '', problem, todo, source: '' }]);
}
