/** Starts an agent for one example: as a command, or by a request to an agent that is running. */
import type { RunnableExample } from './dataset.ts';
import { agentProcess, outputBytesMax, type ProcessEnd } from './agent-process.ts';
import type { RunSlot } from './span-collector.ts';
import type { ProcessGuard } from '../record/process-guard.ts';
import { agentEnvironment, type OtlpAddresses } from '../record/otlp-receivers.ts';
import { oneLine } from '../../model/one-line.ts';
import type { Environment } from '../../config/document.ts';
import type { HttpAnswer, HttpClient } from '../../http/http-client.ts';
import { wire } from '../../model/attributes.ts';
import type { Sleep } from '../../model/clock.ts';
import type { ResultError } from '../../model/experiment.ts';
import { jsonText, type JsonValue } from '../../model/json.ts';

/** How the agent ended, without a look at its spans. */
export type AgentEnd = { readonly kind: 'ended'; readonly error?: ResultError } | { readonly kind: 'interrupted' };

export interface StartedAgent {
  readonly end: Promise<AgentEnd>;
  /** After the end: whether the agent has left a process that runs. */
  isRunning(): boolean;
  /** Ends what the agent has left running. */
  cleanUp(): void;
}

export interface AgentStarter {
  start(slot: RunSlot, example: RunnableExample, options: StartOptions): StartedAgent;
  /** Advice that an experiment gives when no span arrives. */
  readonly whatToCheck: string;
  readonly waits: SpanWaits;
}

/** How long spans may come after the agent has ended, in milliseconds. */
interface SpanWaits {
  /** Wait for the first span. */
  readonly firstMs: number;
  /** For the next one, while the run is not whole. */
  readonly nextMs: number;
  /** For stragglers, after the run is whole. */
  readonly settleMs: number;
}

interface StartOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Longer texts do not fit into an environment variable on Linux. */
const variableBytesMax = 100_000;
const tailCharsMax = 300;
/** An SDK sends its spans before the process ends. A collector on the way may take a moment. */
const afterExit: SpanWaits = { firstMs: 2_000, nextMs: 250, settleMs: 0 };

export function commandStarter({
  command,
  env,
  addresses,
  sleep,
  guard,
}: {
  readonly command: readonly string[];
  readonly env: Environment;
  readonly addresses: OtlpAddresses;
  readonly sleep: Sleep;
  readonly guard?: Pick<ProcessGuard, 'add' | 'remove'> | undefined;
}): AgentStarter {
  const base = agentEnvironment(env, addresses);
  return {
    waits: afterExit,
    whatToCheck:
      'Check that the agent exports spans with an OpenTelemetry SDK whose exporter reads OTEL_EXPORTER_OTLP_ENDPOINT, that it flushes them before it ends, and that it continues TRACEPARENT or reads OTEL_RESOURCE_ATTRIBUTES.',
    start(slot, { inputValue }, { timeoutMs, signal }) {
      const input = inputText(inputValue);
      const { end, groupExists, killGroup } = agentProcess({
        command,
        env: { ...base, ...runEnvironment(slot, input, base['OTEL_RESOURCE_ATTRIBUTES']) },
        input,
        timeoutMs,
        sleep,
        signal,
        guard,
      });
      return {
        end: end.then((how) => endOfProcess(how, { program: command[0] ?? '', timeoutMs })),
        isRunning: groupExists,
        cleanUp: killGroup,
      };
    },
  };
}

/** Gives a text unchanged, and any other input as JSON. */
export function inputText(input: JsonValue): string {
  return typeof input === 'string' ? input : jsonText(input);
}

function runEnvironment(slot: RunSlot, input: string, attributes: string | undefined): Environment {
  const fits = Buffer.byteLength(input) <= variableBytesMax && !input.includes('\0');
  return {
    ...(fits ? { TRACEJURY_INPUT: input } : {}),
    TRACEPARENT: traceparent(slot),
    OTEL_RESOURCE_ATTRIBUTES: [...(attributes === undefined || attributes === '' ? [] : [attributes]), placeOf(slot)].join(','),
  };
}

/** The place of the run in its experiment, as pairs of resource attributes or baggage. */
function placeOf({ experimentId, exampleId, repeat }: RunSlot): string {
  const pairs = { [wire.experimentId]: experimentId, [wire.exampleId]: exampleId, [wire.exampleRepeat]: String(repeat) };
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join(',');
}

function traceparent({ traceId, parentSpanId }: RunSlot): string {
  return `00-${traceId}-${parentSpanId}-01`;
}

function endOfProcess(end: ProcessEnd, { program, timeoutMs }: { readonly program: string; readonly timeoutMs: number }): AgentEnd {
  const said = 'tail' in end && end.tail !== '' ? ` Its last output: ${oneLine(end.tail.slice(-tailCharsMax), tailCharsMax)}` : '';
  const failed = (kind: ResultError['kind'], message: string): AgentEnd => ({ kind: 'ended', error: { kind, message } });
  switch (end.kind) {
    case 'interrupted':
      return { kind: 'interrupted' };
    case 'not_started':
      return failed('not_started', `${JSON.stringify(program)} cannot be started (${end.code}). Check the command after --.`);
    case 'timed_out':
      return failed(
        'timed_out',
        `The command did not end within ${timeoutMs / 1_000} s, so its processes were killed. --timeout gives it longer.${said}`,
      );
    case 'too_much_output':
      return failed(
        'too_much_output',
        `The command wrote more than ${outputBytesMax / 1024 / 1024} MiB, so its processes were killed.${said}`,
      );
    case 'killed_by':
      return failed('signal', `The command was ended by ${end.signal}.${said}`);
    case 'exited':
      return end.code === 0 ? { kind: 'ended' } : failed('exit_code', `The command exited with ${end.code}.${said}`);
  }
}

/** The exporter of a running agent sends its batch after five seconds by default. */
const afterAnswer: SpanWaits = { firstMs: 15_000, nextMs: 6_000, settleMs: 100 };
const answerBytesMax = 16 * 1024 * 1024;
const answerStatusMax = 299;

/** Posts the input: an object or a list unchanged, a text as `{ "input": … }`. */
export function urlStarter({ url, http }: { readonly url: string; readonly http: HttpClient }): AgentStarter {
  return {
    waits: afterAnswer,
    whatToCheck:
      'Check that the agent exports its spans to the receiver of this command (see --port), that it reads the header traceparent, and that it sends a batch within some seconds (OTEL_BSP_SCHEDULE_DELAY).',
    start(slot, { inputValue }, { timeoutMs, signal }) {
      const body = typeof inputValue === 'object' && inputValue !== null ? inputValue : { input: inputValue };
      const answered = http.send({
        url,
        headers: {
          'content-type': 'application/json',
          accept: '*/*',
          traceparent: traceparent(slot),
          baggage: placeOf(slot),
        },
        body: Buffer.from(jsonText(body)),
        timeoutMs,
        answerBytesMax,
        signal,
      });
      return { end: answered.then((answer) => endOfRequest(answer, timeoutMs)), isRunning: () => false, cleanUp: () => undefined };
    },
  };
}

function endOfRequest(answer: HttpAnswer, timeoutMs: number): AgentEnd {
  const failed = (kind: ResultError['kind'], message: string): AgentEnd => ({ kind: 'ended', error: { kind, message } });
  if (answer.kind === 'answered') {
    if (answer.isCut) return failed('too_much_output', `The agent answered with more than ${answerBytesMax / 1024 / 1024} MiB.`);
    if (answer.status <= answerStatusMax) return { kind: 'ended' };
    return failed('http_status', `The agent answered with ${answer.status}: ${oneLine(answer.body.toString('utf8'), tailCharsMax)}`);
  }
  if (answer.reason === 'aborted') return { kind: 'interrupted' };
  return answer.reason === 'timed_out'
    ? failed('timed_out', `The agent did not answer within ${timeoutMs / 1_000} s. --timeout gives it longer.`)
    : failed('not_started', `The agent cannot be reached (${answer.code}). Check --url.`);
}
