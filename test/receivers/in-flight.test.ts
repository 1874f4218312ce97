/** A run waits for requests that have begun: the batches of one exporter come at the same time, and the last one may be the first to be complete. */
import { expect, test } from 'vitest';
import { defaultClosing } from '../../src/pipeline/gathering/close-policy.ts';
import { gathered } from '../builders/gathered.ts';
import { traceRequest } from '../otlp/descriptors.ts';
import { head, open, openDoor, openGrpcDoor, type Door } from './door.ts';
import { callBytes } from '../../src/receivers/grpc/otlp-grpc.ts';
import { message, rawCall, rawSession } from './grpc-client.ts';

interface Begun {
  /** Bytes in flight while the body is under way. */
  readonly bytes: number;
  readonly end: () => void;
  readonly breakOff: () => void;
}

interface Transport {
  readonly name: string;
  readonly door: () => Promise<Door>;
  /** Sends a request up to the middle of its body. */
  readonly begin: (port: number, body: Buffer) => Promise<Begun>;
}

const transports: readonly Transport[] = [
  {
    name: 'http',
    door: openDoor,
    async begin(port, body) {
      const { socket, answer } = await open(port);
      answer.catch(() => undefined);
      const half = body.length >> 1;
      socket.write(head('/v1/traces', { 'content-type': 'application/x-protobuf', 'content-length': body.length }));
      socket.write(body.subarray(0, half));
      return { bytes: body.length, end: () => socket.write(body.subarray(half)), breakOff: () => socket.destroy() };
    },
  },
  {
    name: 'grpc',
    door: openGrpcDoor,
    async begin(port, body) {
      const session = rawSession(port);
      const { stream, answer } = rawCall(session);
      void answer.then(() => session.close());
      const framed = message(body);
      const half = framed.length >> 1;
      stream.write(framed.subarray(0, half));
      return {
        bytes: callBytes + body.length,
        end: () => stream.end(framed.subarray(half)),
        breakOff: () => session.destroy(),
      };
    },
  },
];

const agent = span(1, 'invoke_agent', { 'gen_ai.agent.name': 'finder' });
const tools = [2, 3, 4].map((id) =>
  span(id, 'execute_tool', { 'gen_ai.tool.name': 'find', 'gen_ai.tool.call.result': 'x'.repeat(30_000) }),
);
const [large, small] = [request(...tools.slice(1)), request(...tools.slice(0, 1), agent)];

for (const { name, door: openOne, begin } of transports) {
  test(`in flight: ${name}: a small batch with the agent’s span that overtakes a large one closes no run`, async () => {
    const door = await openOne();
    const to = gathered({}, defaultClosing);
    to.receive(() => door.requests() > 0);
    const first = await begin(door.port, large);
    await door.inFlight(first.bytes);
    const second = await begin(door.port, small);
    await door.inFlight(first.bytes + second.bytes);
    second.end();
    await door.inFlight(first.bytes);
    to.spans(...door.spans.splice(0).map(([, one]) => one));
    to.pass(120);
    expect(to.closed()).toEqual([]);
    first.end();
    await door.inFlight(0);
    to.spans(...door.spans.splice(0).map(([, one]) => one));
    to.pass(60_000);
    expect(to.closed()).toEqual(['620 ms: run 1, complete, revision 1']);
    expect(to.runs().map(({ trace }) => trace.toolCalls.length)).toEqual([3]);
    await door.receiver.stop();
  });

  test(`in flight: ${name}: a run waits neither for an answered request nor for one whose client is gone`, async () => {
    const door = await openOne();
    const to = gathered({}, defaultClosing);
    to.receive(() => door.requests() > 0);
    const gone = await begin(door.port, large);
    await door.inFlight(gone.bytes);
    const whole = await begin(door.port, small);
    await door.inFlight(gone.bytes + whole.bytes);
    whole.end();
    await door.inFlight(gone.bytes);
    gone.breakOff();
    await door.inFlight(0);
    to.spans(...door.spans.splice(0).map(([, one]) => one));
    to.pass(60_000);
    expect(to.closed()).toEqual(['50 ms: run 1, complete, revision 1']);
    await door.receiver.stop();
  });
}

function request(...spans: readonly object[]): Buffer {
  return traceRequest.encode({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

function span(id: number, operation: string, attributes: { readonly [key: string]: string }): object {
  return {
    traceId: Buffer.alloc(16, 1),
    spanId: idOf(id),
    ...(id === 1 ? {} : { parentSpanId: idOf(1) }),
    name: operation,
    startTimeUnixNano: '1',
    endTimeUnixNano: '2',
    attributes: Object.entries({ 'gen_ai.operation.name': operation, ...attributes }).map(([key, stringValue]) => ({
      key,
      value: { stringValue },
    })),
  };
}

function idOf(id: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt8(id, 7);
  return bytes;
}
