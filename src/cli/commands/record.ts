/** `tracejury record`: an OTLP receiver for the length of a command. */
import { pino } from 'pino';
import { defaultClosing } from '../../pipeline/gathering/close-policy.ts';
import { UsageError, type Command, type CommandInput } from '../command.ts';
import { readBodies } from '../inspect/bodies.ts';
import { replayed } from '../inspect/replay.ts';
import { readRecorded } from '../inspect/recording.ts';
import { recordingServer, type Recording, type RecordingServer } from '../record/recording-server.ts';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Environment } from '../../config/substitution.ts';

const outputDefault = 'spans.jsonl';
const wordsMax = 10_000;
const portMax = 65_535;

export const record: Command = {
  name: 'record',
  usage: '[--output FILE] [--port N] -- COMMAND [ARGUMENT]…',
  summary: 'Runs a command with an OTLP receiver beside it and writes its spans to a file.',
  examples: [
    { does: 'Records one run of an agent:', line: 'tracejury record -- python agent.py' },
    { does: 'Records the agents that a test suite runs:', line: 'tracejury record --output spans.jsonl -- pytest' },
  ],
  options: {
    output: {
      type: 'string',
      value: 'FILE',
      summary: `where the spans go, one OTLP request in JSON a line; default ${outputDefault}. An existing file is replaced`,
    },
    port: { type: 'string', value: 'N', summary: 'port of OTLP over HTTP, for agents that read no variable; default any free one' },
  },
  positionalsMax: wordsMax,
  async run(input: CommandInput): Promise<number> {
    const { options, positionals, env, program, complain } = input;
    const { output: file = outputDefault, port = '0' } = options;
    if (typeof file !== 'string' || file === '') throw new UsageError('--output takes one file.');
    if (typeof port !== 'string' || !/^\d{1,5}$/.test(port) || Number(port) > portMax)
      throw new UsageError(`--port takes a number from 0 to ${portMax}.`);
    if (positionals.length === 0) throw new UsageError(`Name the command after --, as in ${program} record -- python agent.py.`);
    const server = await opened(file, Number(port));
    let exitCode: number;
    let recording: Recording;
    try {
      exitCode = await runAgent(positionals, agentEnvironment(env, server)).catch((error: unknown) => {
        throw new UsageError(`${JSON.stringify(positionals[0])} cannot be started (${codeOf(error)}).`);
      });
    } finally {
      recording = await server.stop();
    }
    for (const line of await summary(file, recording, program)) complain(line);
    return exitCode === 0 && recording.spans === 0 ? 1 : exitCode;
  },
};

async function opened(file: string, port: number): Promise<RecordingServer> {
  try {
    return await recordingServer({ file, port, logger: pino({ level: 'silent' }) });
  } catch (error) {
    const isListening = error instanceof Error && 'syscall' in error && error.syscall === 'listen';
    throw new UsageError(
      isListening ? `--port ${port} cannot be used (${codeOf(error)}).` : `--output ${file} cannot be written (${codeOf(error)}).`,
    );
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** What was recorded, and what to do next. */
async function summary(file: string, { spans, records, rejected, isCut }: Recording, program: string): Promise<readonly string[]> {
  const lost = [
    ...(rejected === 0 ? [] : [`${rejected} spans or log records broke the protocol and were left out.`]),
    ...(isCut ? ['The file reached its bound, so later spans were refused: record fewer runs at a time.'] : []),
  ];
  if (spans === 0)
    return [
      `⚠ No span arrived${records === 0 ? '' : `, only ${records} log records`}. The command needs an OpenTelemetry SDK whose exporter reads OTEL_EXPORTER_OTLP_ENDPOINT, or --port with the port that it sends to.`,
      ...lost,
    ];
  const { runs } = replayed(readRecorded(await readBodies([file], process.stdin)), { closing: defaultClosing });
  const found = runs.length === 0 ? '⚠ no agent run among them' : runs.length === 1 ? '1 agent run' : `${runs.length} agent runs`;
  const next = runs.length === 0 ? `${program} inspect ${file} shows what they carry` : `${program} eval ${file} scores them`;
  return [`${file}: ${spans} spans${records === 0 ? '' : ` and ${records} log records`}, ${found}; ${next}.`, ...lost];
}

// A command that runs with an OTLP endpoint in its environment.

/** The standard variables that would lead an exporter elsewhere, or to a receiver with a certificate. */
const misleading =
  /^OTEL_EXPORTER_OTLP_(?:(?:TRACES|LOGS|METRICS)_)?(?:ENDPOINT|PROTOCOL|HEADERS|CERTIFICATE|CLIENT_KEY|CLIENT_CERTIFICATE|INSECURE)$/;
/** Batches leave early: some SDKs send nothing when their process exits. */
const batchDelayMs = 200;
/** As a shell reports a command that a signal has ended. */
const signalExitBase = 128;

/**
 * The environment with the endpoint as the standard variables name it. A command that asks for gRPC by `OTEL_EXPORTER_OTLP_PROTOCOL` gets
 * gRPC, any other one HTTP with protobuf. Metrics are not sent, because the receiver takes none.
 */
export function agentEnvironment(env: Environment, { http, grpc }: { readonly http: string; readonly grpc: string }): Environment {
  const isGrpc = (env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL']) === 'grpc';
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !misleading.test(name)));
  return {
    OTEL_BSP_SCHEDULE_DELAY: String(batchDelayMs),
    OTEL_BLRP_SCHEDULE_DELAY: String(batchDelayMs),
    ...kept,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_ENDPOINT: isGrpc ? grpc : http,
    OTEL_EXPORTER_OTLP_PROTOCOL: isGrpc ? 'grpc' : 'http/protobuf',
  };
}

/** Resolves with the exit code of the command; signals to this process reach it. Rejects where it cannot be started. */
async function runAgent([command = '', ...args]: readonly string[], env: Environment): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...env } });
  // A terminal sends Ctrl-C to the command as well.
  const pass = (signal: NodeJS.Signals): boolean => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, pass);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signalExitBase + (signal === null ? 0 : constants.signals[signal])));
    });
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
}
