/** The value of a YAML text from outside, within bounds of work. */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { jsonDepthMax, type JsonValue } from '../../model/json.ts';

export type YamlRead = { readonly kind: 'value'; readonly value: JsonValue } | { readonly kind: 'fault'; readonly why: string };

/** Values after the expansion of aliases: nested aliases can expand to billions. */
const valuesMax = 1_000_000;
/** Characters of texts after the expansion of aliases. */
const charsMax = 16 * 1024 * 1024;
const aliasesMax = 100;

export function yamlValue(text: string): YamlRead {
  const lineCounter = new LineCounter();
  try {
    // The parser compares each key with all others of its mapping.
    const document = parseDocument(text, { version: '1.2', prettyErrors: false, lineCounter, uniqueKeys: false });
    const [fault] = document.errors;
    if (fault === undefined) return { kind: 'value', value: bounded(document) };
    const { line, col } = lineCounter.linePos(fault.pos[0]);
    return { kind: 'fault', why: `it is neither JSON nor YAML: line ${line}, column ${col}: ${fault.message}.` };
  } catch (error) {
    if (error instanceof OutOfBounds) return { kind: 'fault', why: error.message };
    // The parser of YAML calls itself for each level.
    if (error instanceof RangeError) return { kind: 'fault', why: `it nests deeper than ${jsonDepthMax} levels.` };
    throw error;
  }
}

class OutOfBounds extends Error {}

function bounded(document: Document.Parsed): JsonValue {
  const anchors = new Map<string, unknown>();
  /** Nodes whose value is being read: an alias to one of them would contain itself. */
  const open = new Set<unknown>();
  let [values, chars, aliases] = [0, 0, 0];

  function spend(text: string): void {
    values += 1;
    chars += text.length;
    if (values > valuesMax) throw new OutOfBounds(`it has more than ${valuesMax} values with the expansion of its aliases.`);
    if (chars > charsMax) throw new OutOfBounds(`its texts have more than ${charsMax} characters with the expansion of its aliases.`);
  }

  function valueOf(node: unknown): JsonValue {
    if (isAlias(node)) {
      aliases += 1;
      if (aliases > aliasesMax) throw new OutOfBounds(`it has more than ${aliasesMax} aliases.`);
      const target = anchors.get(node.source);
      if (target === undefined) throw new OutOfBounds(`it has an alias *${node.source} without an anchor before it.`);
      if (open.has(target)) throw new OutOfBounds(`it has an alias *${node.source} to a value that contains it.`);
      return valueOf(target);
    }
    if (!isMap(node) && !isSeq(node)) {
      const value = isScalar(node) ? node.value : null;
      if (isScalar(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
      spend(typeof value === 'string' ? value : '');
      if (typeof value === 'number' && !Number.isFinite(value)) throw new OutOfBounds('it has a number that is not finite.');
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
        ? value
        : null;
    }
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    if (open.size >= jsonDepthMax) throw new OutOfBounds(`it nests deeper than ${jsonDepthMax} levels.`);
    open.add(node);
    spend('');
    const value = isSeq(node) ? node.items.map(valueOf) : membersOf(node.items);
    open.delete(node);
    return value;
  }

  function membersOf(items: readonly { readonly key: unknown; readonly value: unknown }[]): JsonValue {
    const members = new Map<string, JsonValue>();
    for (const { key, value } of items) {
      const name = isScalar(key) ? (typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))) : undefined;
      if (name === undefined) throw new OutOfBounds('it has a key that is not a text.');
      if (members.has(name)) throw new OutOfBounds(`it has the key ${JSON.stringify(name.slice(0, 100))} twice in one mapping.`);
      spend(name);
      members.set(name, valueOf(value));
    }
    return Object.fromEntries(members);
  }

  return valueOf(document.contents);
}
