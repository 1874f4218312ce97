/** A request without room waits for it before it is refused, over both transports. */
import { describe, expect, test } from 'vitest';
import type { Admission } from '../../src/model/ingest.ts';
import { heldRequests } from '../../src/pipeline/overload/held-requests.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { eventually } from '../service/running.ts';
import { head, open, openDoor, openGrpcDoor, testLimits, type Door, type DoorOptions } from './door.ts';
import { message, rawCall, rawSession } from './grpc-client.ts';
import { goodBody } from './otlp-http/table.ts';

interface Sent {
  /** HTTP status or gRPC code. */
  readonly answer: Promise<string>;
  readonly leave: () => void;
}

interface Transport {
  readonly name: string;
  readonly open: (options: DoorOptions) => Promise<Door>;
  readonly send: (port: number, headers?: { readonly [name: string]: string }) => Promise<Sent>;
  readonly want: { readonly taken: string; readonly refused: string; readonly stopping: string };
}

const transports: readonly Transport[] = [
  {
    name: 'http',
    open: openDoor,
    async send(port) {
      const { socket, answer } = await open(port);
      socket.write(head('/v1/traces', { 'content-type': 'application/x-protobuf', 'content-length': goodBody.length }));
      socket.write(goodBody);
      return {
        answer: answer.then(({ status }) => String(status)).finally(() => socket.destroy()),
        leave: () => socket.destroy(),
      };
    },
    want: { taken: '200', refused: '429', stopping: '503' },
  },
  {
    name: 'grpc',
    open: openGrpcDoor,
    async send(port, headers) {
      const session = rawSession(port);
      const { stream, answer } = rawCall(session, headers);
      stream.end(message(goodBody));
      return {
        answer: answer.then(({ headers: all }) => String(all['grpc-status'])).finally(() => session.close()),
        leave: () => session.destroy(),
      };
    },
    want: { taken: '0', refused: '14', stopping: '14' },
  },
];

const busy: Admission = { refuse: 'overloaded', retryAfterSeconds: 3 };

describe.each(transports)('held requests over $name', ({ open: openOne, send, want }) => {
  async function opened(admission: Admission = busy) {
    const sleeper = manualSleep();
    const held = heldRequests({ sleep: sleeper.sleep, telemetry: noTelemetry, requestsMax: 2 });
    const door = await openOne({ held });
    door.admission = admission;
    return { door, held, sleeper, isHeld: () => eventually(() => held.isHolding() || undefined, 'a held request') };
  }

  test('a request is taken when there is room, and runs know of it meanwhile', async () => {
    const { door, held, isHeld } = await opened();
    const { answer } = await send(door.port);
    await isHeld();
    expect([door.requests(), door.spans.length]).toEqual([1, 0]);
    held.letIn();
    expect(held.isHolding()).toBe(true);
    door.admission = 'open';
    held.letIn();
    expect(await answer).toBe(want.taken);
    expect([door.spans.length, held.isHolding()]).toEqual([1, false]);
    await door.inFlight(0);
    expect(door.requests()).toBe(0);
    await door.receiver.stop();
  });

  test('a request is refused when its time is over', async () => {
    const { door, sleeper, isHeld } = await opened();
    const { answer } = await send(door.port);
    await isHeld();
    expect(sleeper.slept).toEqual([1_000]);
    await sleeper.wakeAll();
    expect(await answer).toBe(want.refused);
    expect([door.spans.length, door.requests()]).toEqual([0, 0]);
    await door.receiver.stop();
  });

  test('a client that leaves frees its place', async () => {
    const { door, held, isHeld } = await opened();
    const { answer, leave } = await send(door.port);
    answer.catch(() => undefined);
    await isHeld();
    leave();
    await eventually(() => !held.isHolding() || undefined, 'a free place');
    expect(door.spans).toEqual([]);
    await eventually(() => door.requests() === 0 || undefined, 'no request under way');
    await door.receiver.stop();
  });

  test('a stop answers what is held', async () => {
    const { door, isHeld } = await opened();
    const { answer } = await send(door.port);
    await isHeld();
    const stopped = door.receiver.stop();
    expect(await answer).toBe(want.stopping);
    await stopped;
  });

  test('a request without hope is refused at once', async () => {
    const { door, sleeper } = await opened({ refuse: 'journal_full', retryAfterSeconds: 3 });
    const { answer } = await send(door.port);
    expect(await answer).toBe(want.stopping);
    expect(sleeper.slept).toEqual([]);
    await door.receiver.stop();
  });
});

test('held requests over http: one that waits for bytes holds up no smaller one', async () => {
  const held = heldRequests({ sleep: manualSleep().sleep, telemetry: noTelemetry, requestsMax: 8 });
  const limits = { ...testLimits, inFlightBytes: testLimits.bodyBytes + goodBody.length };
  const door = await openDoor({ held, limits });
  const announced = head('/v1/traces', { 'content-type': 'application/x-protobuf', 'content-length': limits.bodyBytes });
  const [first, second] = [await open(door.port), await open(door.port)];
  first.socket.write(announced);
  await door.inFlight(limits.bodyBytes);
  second.socket.write(announced);
  await eventually(() => held.isHolding() || undefined, 'a held request');
  const small = await open(door.port);
  small.socket.write(head('/v1/traces', { 'content-type': 'application/x-protobuf', 'content-length': goodBody.length }));
  small.socket.write(goodBody);
  expect((await small.answer).status).toBe(200);
  expect(held.isHolding()).toBe(true);
  for (const { socket } of [first, second, small]) socket.destroy();
  await door.receiver.stop();
});

test('held requests over grpc: a request waits for half of its deadline at most', async () => {
  const sleeper = manualSleep();
  const held = heldRequests({ sleep: sleeper.sleep, telemetry: noTelemetry, requestsMax: 8 });
  const door = await openGrpcDoor({ held });
  door.admission = busy;
  const session = rawSession(door.port);
  for (const timeout of ['500m', '10S', '90000u', 'soon']) rawCall(session, { 'grpc-timeout': timeout }).stream.end(message(goodBody));
  await eventually(() => sleeper.slept.length === 4 || undefined, 'four held requests');
  expect(sleeper.slept).toEqual([250, 1_000, 45, 1_000]);
  session.destroy();
  await door.receiver.stop();
});
