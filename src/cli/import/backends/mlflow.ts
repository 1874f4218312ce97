/** Traces of MLflow 3: a search for their ids, then the spans of each. */
import { collectors } from '../../../../collectors/index.ts';
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
  objectsAt,
  parseJson,
  plainText,
  objectAt,
} from '../../../model/json.ts';
import { attributesOf, block, hexId, textIn } from '../../inspect/exported-forms.ts';
import { type Ask, cursorIn, ImportFault, type ImportBackend, listIn } from './backend.ts';

const tracesOfPage = 100;
const microsPerMs = 1_000;

export const mlflow: ImportBackend = {
  title: 'MLflow',
  project: { noun: 'experiment id', isNeeded: true },
  async page(ask, { project = '', from, to }, cursor) {
    const answer = await ask('/api/3.0/mlflow/traces/search', {
      body: {
        locations: [{ type: 'MLFLOW_EXPERIMENT', mlflow_experiment: { experiment_id: project } }],
        filter: `attributes.timestamp_ms >= ${Math.floor(from / microsPerMs)} AND attributes.timestamp_ms < ${Math.ceil(to / microsPerMs)}`,
        max_results: tracesOfPage,
        order_by: ['timestamp_ms ASC'],
        ...(cursor === undefined ? {} : { page_token: cursor }),
      },
    });
    // MLflow leaves the list out of the answer when there is no trace.
    const traces = isJsonObject(answer) && member(answer, 'traces') === undefined ? [] : listIn(answer, 'traces', 'MLflow');
    const blocks: JsonObject[] = [];
    for (const trace of traces) {
      const id = textIn(trace, 'trace_id');
      if (id === '') throw new ImportFault('MLflow answers a search with a trace without trace_id.');
      blocks.push(...(await spansOf(ask, id)));
    }
    return { blocks, next: cursorIn(answer, 'next_page_token') };
  },
};

async function spansOf(ask: Ask, id: string): Promise<readonly JsonObject[]> {
  const answer = await ask('/ajax-api/3.0/mlflow/get-trace-artifact', { query: { request_id: id } });
  return listIn(answer, 'spans', 'MLflow').map(spanBlock);
}

const statuses = ['STATUS_CODE_UNSET', 'STATUS_CODE_OK', 'STATUS_CODE_ERROR'];

function spanBlock(span: JsonObject): JsonObject {
  /** MLflow writes times as numbers or as texts. */
  const nanosAt = (from: JsonObject, key: string): string => plainText(member(from, key) ?? '');
  const status = objectAt(span, 'status');
  return block([], '', {
    traceId: hexId(textIn(span, 'trace_id')),
    spanId: hexId(textIn(span, 'span_id')),
    parentSpanId: hexId(textIn(span, 'parent_span_id')),
    name: textIn(span, 'name'),
    kind: 1,
    startTimeUnixNano: nanosAt(span, 'start_time_unix_nano'),
    endTimeUnixNano: nanosAt(span, 'end_time_unix_nano'),
    attributes: attributesOf(asSent(objectAt(span, 'attributes'))),
    events: objectsAt(span, 'events').map((event) => ({
      name: textIn(event, 'name'),
      timeUnixNano: nanosAt(event, 'time_unix_nano'),
      attributes: attributesOf(objectAt(event, 'attributes')),
    })),
    status: { code: Math.max(0, statuses.indexOf(textIn(status, 'code'))), message: textIn(status, 'message') },
  });
}

const ownPrefix = 'mlflow.';
const ownMark = 'mlflow.spanType';

/**
 * Attributes as the SDK sent them. MLflow writes each value as JSON, as its own SDK does on the wire, and adds its own attributes to the spans of
 * other SDKs. Those spans keep only what their SDK sent.
 */
function asSent(attributes: JsonObject): JsonObject {
  const keys = Object.keys(attributes);
  if (keys.includes(ownMark) && !keys.some(isOfOtherSdk)) return attributes;
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([key, value]) => {
      if (key.startsWith(ownPrefix)) return [];
      const sent = sentValue(value);
      return sent === null ? [] : [[key, sent]];
    }),
  );
}

/** MLflow drops the quotes of a text that is JSON itself, so an object was a text, and so was a list with anything but texts and numbers. */
function sentValue(value: JsonValue): JsonValue {
  const parsed = typeof value === 'string' ? parseJson(value) : value;
  if (parsed === undefined || isJsonObject(parsed)) return value;
  return isJsonArray(parsed) && parsed.some((item) => typeof item === 'object') ? value : parsed;
}

const otherSdks = collectors.map(({ recognisedBy }) => recognisedBy).filter(({ keys }) => keys?.includes(ownMark) !== true);

function isOfOtherSdk(key: string): boolean {
  return otherSdks.some(
    ({ keys, keyPrefixes }) => keys?.includes(key) === true || keyPrefixes?.some((prefix) => key.startsWith(prefix)) === true,
  );
}
