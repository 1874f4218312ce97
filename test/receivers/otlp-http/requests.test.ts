/** Every row of the table against one server. After each of them a good request must still be taken. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logsResponse, statusMessage, traceResponse } from '../../otlp/descriptors.ts';
import { chunked, exchange, head, openDoor, type Door, type RawAnswer } from '../door.ts';
import { goodBody, rows, type Row } from './table.ts';

let door: Door;

beforeAll(async () => {
  door = await openDoor();
});

afterAll(() => door.receiver.stop());

describe('otlp_http requests', () => {
  for (const row of rows) {
    test(`otlp_http: ${row.name} is answered ${row.want.status}`, async () => {
      door.counts.clear();
      door.spans.length = 0;
      door.records.length = 0;
      const { path = '/v1/traces', method = 'POST', headers = {}, want } = row;
      const answer = await exchange(door.port, head(path, { ...headers, connection: 'close', ...lengthOf(row) }, method), bodyOf(row));

      expect(answer.status).toBe(want.status);
      expect(answer.headers).toMatchObject(want.headers ?? {});
      expect(said(row, answer)).toEqual({
        code: want.code,
        message: want.message === undefined ? expect.anything() : expect.stringMatching(want.message),
        rejected: want.rejected,
      });
      expect(door.spans).toHaveLength(want.spans ?? 0);
      expect(door.records).toHaveLength(want.records ?? 0);
      const signal = { '/v1/traces': 'traces', '/v1/logs': 'logs' }[path.split('?')[0] ?? ''] ?? 'other';
      const counted = [...door.counts].filter(([key]) => key.startsWith(`tracejury.receiver.requests http ${signal} ${want.status}`));
      expect(counted.map(([key, count]) => [key.split(' ').length, count])).toEqual([[want.status === 200 ? 4 : 5, 1]]);
      expect(Object.fromEntries(door.counts)).toMatchObject(want.counts ?? {});

      const good = await exchange(
        door.port,
        head('/v1/traces', { 'content-type': 'application/x-protobuf', 'content-length': goodBody.length, connection: 'close' }),
        goodBody,
      );
      expect(good.status).toBe(200);
      await door.inFlight(0);
    });
  }

  test('otlp_http: the table has at least 40 rows', () => expect(rows.length).toBeGreaterThanOrEqual(40));
});

function bodyOf({ body, pieces }: Row): Uint8Array {
  if (body === undefined) return new Uint8Array();
  return pieces === undefined ? body : chunked(body, pieces);
}

function lengthOf({ body, pieces }: Row): { readonly [name: string]: string | number } {
  if (body === undefined) return {};
  return pieces === undefined ? { 'content-length': body.length } : { 'transfer-encoding': 'chunked' };
}

/** The content of the answer, read in the encoding that its content type names, which must be the request's own. */
function said(
  { path, headers }: Row,
  { status, headers: answered, body }: RawAnswer,
): { readonly code: unknown; readonly message: unknown; readonly rejected: unknown } {
  const sent =
    String(headers?.['content-type'] ?? '')
      .split(';')[0]
      ?.toLowerCase() ?? '';
  expect(answered['content-type']).toBe(
    ['application/x-protobuf', 'application/protobuf', 'application/json'].includes(sent) ? sent : 'application/json',
  );
  const isJson = answered['content-type'] === 'application/json';
  const message = status !== 200 ? statusMessage : path === '/v1/logs' ? logsResponse : traceResponse;
  const read = isJson ? (JSON.parse(body.toString()) as { readonly [field: string]: unknown }) : message.decode(body);
  if (status !== 200) return { code: read['code'], message: read['message'], rejected: undefined };
  const partial = (read['partialSuccess'] ?? {}) as { readonly [field: string]: unknown };
  return {
    code: undefined,
    message: partial['errorMessage'] ?? 'all taken',
    rejected: partial['rejectedSpans'] ?? partial['rejectedLogRecords'],
  };
}
