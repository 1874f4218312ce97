/** Traces of Langfuse: `GET /api/public/traces`, then each with its observations, as the spans that its SDKs send. */
import { createHash } from 'node:crypto';
import { isJsonObject, jsonText, type JsonObject, type JsonValue, member, objectAt } from '../../../model/json.ts';
import { parseTimeText, timeText } from '../../../model/timestamp.ts';
import { attribute, block, nanosText, textIn } from '../../inspect/exported-forms.ts';
import { ImportFault, type ImportBackend, listIn, nanos } from './backend.ts';

const tracesOfPage = 50;

export const langfuse: ImportBackend = {
  title: 'Langfuse',
  project: { noun: 'project', isNeeded: false },
  async page(ask, { from, to }, cursor = '1') {
    const answer = await ask('/api/public/traces', {
      query: {
        page: cursor,
        limit: tracesOfPage,
        fromTimestamp: timeText(nanos(from)),
        toTimestamp: timeText(nanos(to)),
        orderBy: 'timestamp.asc',
      },
    });
    const blocks: JsonObject[] = [];
    for (const { id } of listIn(answer, 'data', 'Langfuse')) {
      if (typeof id !== 'string') throw new ImportFault('Langfuse answers with a trace without id.');
      const trace = await ask(`/api/public/traces/${encodeURIComponent(id)}`);
      const session = isJsonObject(trace) ? given('session.id', member(trace, 'sessionId')) : [];
      blocks.push(...listIn(trace, 'observations', 'Langfuse').map((one) => observationBlock(one, session)));
    }
    const pages = isJsonObject(answer) ? Number(member(objectAt(answer, 'meta'), 'totalPages')) : 0;
    return { blocks, next: Number(cursor) < pages ? String(Number(cursor) + 1) : undefined };
  },
};

/** The attributes of the SDKs, and the members of an observation that they come from. */
const members: { readonly [key: string]: string } = {
  'langfuse.observation.input': 'input',
  'langfuse.observation.output': 'output',
  'langfuse.observation.level': 'level',
  'langfuse.observation.status_message': 'statusMessage',
  'langfuse.observation.model.name': 'model',
  'langfuse.observation.model.parameters': 'modelParameters',
  'langfuse.observation.usage_details': 'usageDetails',
  'langfuse.observation.cost_details': 'costDetails',
  'langfuse.version': 'version',
};

function observationBlock(one: JsonObject, session: readonly JsonObject[]): JsonObject {
  const text = (key: string): string => textIn(one, key);
  const start = parseTimeText(text('startTime')) ?? 0;
  return block([attribute('deployment.environment.name', text('environment'))], 'langfuse-sdk', {
    traceId: hexId(text('traceId'), 32),
    spanId: hexId(text('id'), 16),
    parentSpanId: text('parentObservationId') === '' ? '' : hexId(text('parentObservationId'), 16),
    name: text('name'),
    kind: 1,
    startTimeUnixNano: nanosText(start),
    endTimeUnixNano: nanosText(parseTimeText(text('endTime')) ?? start),
    attributes: [
      ...session,
      attribute('langfuse.observation.type', text('type').toLowerCase()),
      ...Object.entries(members).flatMap(([key, from]) => given(key, member(one, from))),
      ...Object.entries(objectAt(one, 'metadata')).flatMap(([key, value]) => given(`langfuse.observation.metadata.${key}`, value)),
    ],
    status: text('level') === 'ERROR' ? { code: 2, message: text('statusMessage') } : { code: 0 },
  });
}

/** The SDKs write all but texts as JSON. */
function given(key: string, value: JsonValue | undefined): readonly JsonObject[] {
  if (value === undefined || value === null) return [];
  return [attribute(key, typeof value === 'string' ? value : jsonText(value))];
}

/** Ids of OpenTelemetry stay unchanged. A UUID, which older SDKs give, becomes the same id each time. */
function hexId(id: string, digits: number): string {
  const plain = id.replaceAll('-', '').toLowerCase();
  if (plain.length === digits && /^[\da-f]+$/.test(plain)) return plain;
  return createHash('sha256').update(id).digest('hex').slice(0, digits);
}
