/** `tracejury record`: runs a command with an OTLP receiver and records its spans. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { pino } from 'pino';
import { type CommandProgram, type CommandInput, UsageError, codeOf } from '../command.ts';
import { recordedRuns } from '../inspect/inspection.ts';
import { agentEnvironment, otlpReceivers } from '../record/otlp-receivers.ts';
import { processGuard } from '../record/process-guard.ts';
import { defaultByteLimits, readBodies, readRecorded } from '../inspect/recording.ts';
import type { Environment } from '../../config/document.ts';
import type { Ingest } from '../../model/ingest.ts';
import { writeLogsJson, writeTracesJson } from '../../otlp/write/write.ts';
import { defaultClosing } from '../../pipeline/gathering/close-policy.ts';
import type { ReceiverLogger } from '../../receivers/receiver.ts';
import { noTelemetry, type Telemetry } from '../../telemetry/telemetry.ts';

const outputDefault = 'spans.jsonl';
const wordsMax = 10_000;
const portMax = 65_535;
const retryAfterSeconds = 1;

export const record: CommandProgram = {
  examples: [
    { does: 'Records one run of an agent:', line: 'tracejury record -- python agent.py' },
    { does: 'Records the agents of a test suite:', line: 'tracejury record --output spans.jsonl -- pytest' },
  ],
  options: {
    output: {
      type: 'string',
      value: 'FILE',
      summary: `writes one OTLP request in JSON a line to this file and replaces an existing one (default: ${outputDefault})`,
    },
    port: {
      type: 'string',
      value: 'N',
      summary: 'listens on this port for OTLP over HTTP, for agents that read no variable (default: a free port)',
    },
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

/** Describes the recording and the next command. */
async function summary(file: string, { spans, records, rejected, isCut }: Recording, program: string): Promise<readonly string[]> {
  const lost = [
    ...(rejected === 0 ? [] : [`The receiver rejected ${rejected} spans or log records that break the protocol.`]),
    ...(isCut ? ['The file reached its size limit, so the receiver refused later spans: record fewer runs at a time.'] : []),
  ];
  if (spans === 0)
    return [
      `⚠ No span arrived${records === 0 ? '' : `, only ${records} log records`}. The command needs an OpenTelemetry SDK whose exporter reads OTEL_EXPORTER_OTLP_ENDPOINT, or --port with the port that it sends to.`,
      ...lost,
    ];
  const runs = recordedRuns(readRecorded(await readBodies([file], process.stdin)), { closing: defaultClosing });
  const found = runs.length === 0 ? '⚠ no agent run among them' : runs.length === 1 ? '1 agent run' : `${runs.length} agent runs`;
  const next = runs.length === 0 ? `${program} inspect ${file} shows their content` : `${program} eval ${file} scores them`;
  return [`${file}: ${spans} spans${records === 0 ? '' : ` and ${records} log records`}, ${found}; ${next}.`, ...lost];
}

/** The shell convention for a command that a signal has ended. */
const signalExitBase = 128;

/** Resolves with the exit code of the command and passes signals to it. Rejects when it cannot start. */
async function runAgent([command = '', ...args]: readonly string[], env: Environment): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...env } });
  const guard = processGuard(env['PATH']);
  if (child.pid !== undefined) guard.add(child.pid);
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
    guard.stop();
    for (const signal of signals) process.off(signal, pass);
  }
}

interface RecordingServer {
  readonly http: string;
  readonly grpc: string;
  /** Stops both receivers after the requests in flight, and closes the file. */
  stop(): Promise<Recording>;
}

interface Recording {
  readonly spans: number;
  readonly records: number;
  /** Spans and log records that broke the protocol. */
  readonly rejected: number;
  /** `true` when the file reached its size limit. */
  readonly isCut: boolean;
}

interface RecordingOptions {
  readonly file: string;
  /** Port of OTLP over HTTP; 0 takes any free port. */
  readonly port: number;
  readonly logger: ReceiverLogger;
  /** Default: the limit of the commands that read recordings. */
  readonly fileBytesMax?: number;
}

/**
 * Starts OTLP receivers that write every request to a file, one in JSON a line, as the Collector's file exporter does. Rejects when the file
 * cannot be written or the port is in use.
 */
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
  try {
    const receivers = await otlpReceivers({ ingest, telemetry, logger, port });
    return {
      ...receivers,
      async stop() {
        await receivers.stop();
        closeSync(output);
        return { spans: counted.spans, records: counted.records, rejected: counted.rejected, isCut: counted.isCut };
      },
    };
  } catch (error) {
    closeSync(output);
    throw error;
  }
}
