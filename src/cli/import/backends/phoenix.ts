/** Spans of Arize Phoenix: `GET /v1/projects/{project}/spans`, a page at a time. */
import { isJsonObject, jsonText, type JsonObject, type JsonValue, member, objectAt } from '../../../model/json.ts';
import { timeText } from '../../../model/timestamp.ts';
import { attribute, sdkBlock, textIn } from '../../inspect/exported-forms.ts';
import { cursorIn, type ImportBackend, listIn, nanos, type Query } from './backend.ts';

const spansOfPage = 500;
const defaultProject = 'default';

export const phoenix: ImportBackend = {
  title: 'Phoenix',
  project: { noun: 'project', isNeeded: false },
  async page(ask, { project = defaultProject, from, to }, cursor, sent) {
    const list = async (query: Query): Promise<{ readonly spans: readonly JsonObject[]; readonly next: string | undefined }> => {
      const answer = await ask(`/v1/projects/${encodeURIComponent(project)}/spans`, { query: { limit: spansOfPage, ...query } });
      return { spans: listIn(answer, 'data', 'Phoenix'), next: cursorIn(answer, 'next_cursor') };
    };
    const { spans, next } = await list({ start_time: timeText(nanos(from)), end_time: timeText(nanos(to)), cursor });
    const blocks: JsonObject[] = [];
    // A run that is sent in parts would be scored in parts.
    for (const [trace, ofPage] of Map.groupBy(spans, traceOf)) {
      if (sent.has(trace)) continue;
      const whole: JsonObject[] = [];
      let [at, pages]: [string | undefined, number] = [undefined, 0];
      do {
        const more = await list({ trace_id: trace, cursor: at });
        whole.push(...more.spans);
        at = more.next;
      } while (at !== undefined && ++pages < pagesOfTrace);
      // Releases before 13.9 cannot be asked for a trace, and answer with others. A longer trace goes page by page.
      const isWhole = at === undefined && whole.every((span) => traceOf(span) === trace);
      const own = isWhole ? whole : ofPage;
      if (isWhole) sent.add(trace);
      blocks.push(...own.map((span) => sdkBlock(asSent(span), [attribute('openinference.project.name', project)])));
    }
    return { blocks, next };
  },
};

const pagesOfTrace = 20;

function traceOf(span: JsonObject): string {
  return textIn(objectAt(span, 'context'), 'trace_id');
}

/** Attributes that SDKs send as one JSON text. Phoenix answers with a key for each member, and with the kind of a span outside of its attributes. */
const jsonTexts = ['metadata', 'tool.parameters'];
/** A key with more steps is not put together. */
const depthMax = 64;

function asSent(span: JsonObject): JsonObject {
  const attributes = member(span, 'attributes');
  if (!isJsonObject(attributes)) return span;
  const whole = new Map<string, JsonValue>();
  const divided = new Map<string, Leaf[]>();
  for (const [key, value] of Object.entries(attributes)) {
    const text = jsonTexts.find((prefix) => key.startsWith(`${prefix}.`));
    const path = text === undefined ? [] : key.slice(text.length + 1).split('.', depthMax + 1);
    if (text === undefined || path.length > depthMax) {
      whole.set(key, value);
      continue;
    }
    const leaves = divided.get(text) ?? [];
    divided.set(text, leaves);
    leaves.push([path, value]);
  }
  for (const [key, leaves] of divided) if (!whole.has(key)) whole.set(key, jsonText(joined(leaves)));
  const kind = textIn(span, 'span_kind');
  // Phoenix derives another kind for spans of OpenTelemetry's conventions.
  if (kind !== '' && kind !== 'UNKNOWN' && !whole.has('gen_ai.operation.name') && !whole.has('openinference.span.kind'))
    whole.set('openinference.span.kind', kind);
  return { ...span, attributes: Object.fromEntries(whole) };
}

type Leaf = readonly [path: readonly string[], value: JsonValue];

/** Members whose names are 0, 1, 2 … are a list. */
function joined(leaves: readonly Leaf[]): JsonValue {
  const [own, ...others] = leaves.filter(([path]) => path.length === 0);
  if (own !== undefined && others.length === 0 && leaves.length === 1) return own[1];
  const members = Map.groupBy(
    leaves.filter(([path]) => path.length > 0),
    ([[name = '']]) => name,
  );
  const inner = [...members].map(([name, below]) => [name, joined(below.map(([path, value]) => [path.slice(1), value]))] as const);
  return inner.every(([name], at) => name === String(at)) ? inner.map(([, value]) => value) : Object.fromEntries(inner);
}
