/** `tracejury record`: an OTLP receiver for the length of a command. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { pino } from 'pino';
import { type Command, type CommandInput, UsageError, codeOf } from '../command.ts';
import { replayed } from '../inspect/inspection.ts';
import { defaultByteLimits, readBodies, readRecorded } from '../inspect/recording.ts';
import type { Environment } from '../../config/document.ts';
import type { Ingest } from '../../model/ingest.ts';
import { writeLogsJson, writeTracesJson } from '../../otlp/write/write.ts';
import { defaultClosing } from '../../pipeline/gathering/close-policy.ts';
import { byteBudget } from '../../receivers/byte-budget.ts';
import { otlpGrpcReceiver } from '../../receivers/grpc/otlp-grpc.ts';
import { otlpHttpReceiver } from '../../receivers/http/otlp-http.ts';
import type { ReceiverLogger } from '../../receivers/receiver.ts';
import { clock } from '../../service/node-runtime.ts';
import { noTelemetry, type Telemetry } from '../../telemetry/telemetry.ts';

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

// OTLP receivers that write every request they take to a file, one JSON request a line, as the Collector's file exporter does.

interface RecordingServer {
  readonly http: string;
  readonly grpc: string;
  /** Stops both receivers after the requests under way, and closes the file. */
  stop(): Promise<Recording>;
}

interface Recording {
  readonly spans: number;
  readonly records: number;
  /** Spans and log records that broke the protocol. */
  readonly rejected: number;
  /** The file reached its bound, and later requests were refused. */
  readonly isCut: boolean;
}

interface RecordingOptions {
  readonly file: string;
  /** Of OTLP over HTTP; 0: any free port. */
  readonly port: number;
  readonly logger: ReceiverLogger;
  /** Default: as much as the commands that read recordings take. */
  readonly fileBytesMax?: number;
}

/** Of one request, as the service has them by default. */
const limits = { bodyBytes: 16 * 1024 * 1024, inflatedBytes: 64 * 1024 * 1024 } as const;
const inFlightBytesMax = 4 * limits.inflatedBytes;
const retryAfterSeconds = 1;

/** Rejects where the file cannot be written or the port is taken. */
export async function recordingServer({
  file,
  port,
  logger,
  fileBytesMax = defaultByteLimits.fileBytes,
}: RecordingOptions): Promise<RecordingServer> {
  const output = openSync(file, 'w');
  const counted = { spans: 0, records: 0, rejected: 0, bytes: 0, isCut: false };
  const telemetry: Telemetry = {
    ...noTelemetry,
    add(_metric, by, labels) {
      if (labels?.['tracejury.outcome'] === 'rejected') counted.rejected += by;
    },
  };
  const write = (line: Buffer): void => {
    writeSync(output, Buffer.concat([line, Buffer.from('\n')]));
    counted.bytes += line.length + 1;
  };
  const ingest: Ingest = {
    spans: async (_tenant, spans) => {
      write(writeTracesJson(spans));
      counted.spans += spans.length;
    },
    logs: async (_tenant, records) => {
      write(writeLogsJson(records));
      counted.records += records.length;
    },
    admission: () => {
      if (counted.bytes < fileBytesMax) return 'open';
      counted.isCut = true;
      return { refuse: 'journal_full', retryAfterSeconds };
    },
  };
  const lease = byteBudget({ bytesMax: inFlightBytesMax, telemetry })({ keepFreeBytes: 0 });
  const shared = { host: '127.0.0.1', limits, lease, tokens: [], ingest, telemetry, logger, clock };
  const receivers = [otlpHttpReceiver({ ...shared, port }), otlpGrpcReceiver({ ...shared, port: 0 })] as const;
  const stop = async (): Promise<void> => {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    closeSync(output);
  };
  try {
    const [http, grpc] = [await receivers[0].listen(), await receivers[1].listen()];
    return {
      http: http.address,
      // Exporters read a scheme-less address as one behind TLS.
      grpc: grpc.address.includes('://') ? grpc.address : `http://${grpc.address}`,
      async stop() {
        await stop();
        return { spans: counted.spans, records: counted.records, rejected: counted.rejected, isCut: counted.isCut };
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
