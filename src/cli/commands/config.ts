import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { evaluators } from '../../../evaluators/index.ts';
import { type CommandProgram, type CommandInput, type ExitCode, UsageError } from '../command.ts';
import { faultsText, warningsText } from '../input-faults.ts';
import type { Config, ExporterConfig } from '../../config/config.ts';
import { ConfigError } from '../../config/diagnostic.ts';
import { type LoadedConfig, readConfig } from '../../config/load.ts';
import { configSchema } from '../../config/schema.ts';
import { maskedUrl } from '../../config/secrets.ts';
import { failureReason } from '../../exporters/delivery/export-outcome.ts';
import type { ExportOutcome } from '../../exporters/exporter.ts';
import { probeMetrics } from '../../exporters/metrics/metrics-push.ts';
import { todoOf } from '../../judges/judge-outages.ts';
import { probeJudge } from '../../judges/probe.ts';
import { jsonText, type JsonValue } from '../../model/json.ts';
import { configuredExporter } from '../../service/exporter-set.ts';
import { clock, sleep } from '../../service/node-runtime.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

const actions: { readonly [name: string]: (input: CommandInput, file: string | undefined) => ExitCode | Promise<ExitCode> } = {
  check,
  print,
  schema,
};

export const config: CommandProgram = {
  subcommands: [
    {
      name: 'check',
      usage: '[FILE] [--try]',
      summary: 'Lists all faults of a configuration with line and column, and exits with 1 when there is one.',
      options: ['try'],
      examples: [
        { does: 'Checks a file before deployment:', line: 'tracejury config check tracejury.yaml' },
        {
          does: 'Also asks the backends whether they accept the credentials, and each judge a question:',
          line: 'tracejury config check tracejury.yaml --try',
        },
      ],
    },
    {
      name: 'print',
      usage: '[FILE]',
      summary: 'Prints the effective configuration, with defaults filled in and secrets masked.',
      options: [],
      examples: [{ does: 'Shows the defaults:', line: 'tracejury config print' }],
    },
    {
      name: 'schema',
      usage: '',
      summary: 'Prints the JSON Schema of the configuration, for editors.',
      options: [],
      examples: [{ does: 'Writes the schema for an editor:', line: 'tracejury config schema > tracejury.schema.json' }],
    },
  ],
  examples: [{ does: 'Lists all faults of a file:', line: 'tracejury config check tracejury.yaml' }],
  options: {
    try: {
      type: 'boolean',
      summary:
        'asks each backend of `export` whether it accepts the credentials, and each judge one short question, and exits with 1 when one does not answer',
    },
  },
  positionalsMax: 2,
  async run(input) {
    const [action = '', file] = input.positionals;
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (input.options['try'] === true && action !== 'check') throw new UsageError('--try goes with check.');
    if (run === undefined)
      throw new UsageError(
        action === '' ? 'Name an action: check, print or schema.' : `${JSON.stringify(action)} is not check, print or schema.`,
      );
    return await run(input, file);
  },
};

/** Faults go to standard output: they are the result of `check`. */
async function check(input: CommandInput, file: string | undefined): Promise<ExitCode> {
  try {
    const { config: sound, warnings } = await loaded(input, file);
    if (warnings.length > 0) input.say(warningsText(warnings));
    input.say(
      `${file ?? 'defaults'}: no faults${warnings.length === 0 ? '' : `, ${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}`}`,
    );
    if (input.options['try'] !== true) return 0;
    const tried = [...(await tryCredentials(sound)), ...(await tryJudges(sound))];
    for (const { text } of tried) input.say(text);
    return tried.every(({ isRight }) => isRight) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    input.say(faultsText(error.faults));
    return 1;
  }
}

async function print(input: CommandInput, file: string | undefined): Promise<ExitCode> {
  const { printed } = await loaded(input, file);
  input.say(stringify(printed, { lineWidth: 0 }).trimEnd());
  return 0;
}

function schema(input: CommandInput): ExitCode {
  input.say(JSON.stringify(JSON.parse(jsonText(configSchema(evaluators))) as JsonValue, undefined, 2));
  return 0;
}

async function loaded(input: CommandInput, file: string | undefined): Promise<LoadedConfig> {
  return await readConfig({ file, env: input.env, evaluators });
}

interface Tried {
  readonly isRight: boolean;
  /** One line. */
  readonly text: string;
}

/** Sends one harmless request to each backend, in the order of the entries. */
async function tryCredentials({ exporters }: Config): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  for (const entry of exporters) tried.push(triedOf(entry, await outcomeOf(entry)));
  return tried;
}

/** `undefined` when the entry has no credentials to try. */
async function outcomeOf(entry: ExporterConfig): Promise<ExportOutcome | undefined> {
  if (entry.to === 'metrics') return entry.push === undefined ? undefined : await probeMetrics(entry.push);
  const exporter = configuredExporter(entry, { telemetry: noTelemetry, clock, sleep });
  try {
    return await exporter.probe?.();
  } finally {
    await exporter.stop();
  }
}

/** Asks each judge one question, in the order of the entries. */
async function tryJudges({ judges }: Config): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  for (const judge of judges) {
    const { random } = Math;
    const answer = await probeJudge(judge, { telemetry: noTelemetry, clock, sleep, random, nonce: () => randomBytes(12).toString('hex') });
    const where = `judge ${judge.name}: ${maskedUrl(judge.baseUrl)}`;
    tried.push(
      answer.kind === 'answered'
        ? { isRight: true, text: `${where} answers` }
        : { isRight: false, text: `${where} does not answer: ${answer.error}. ${todoOf(answer.error)}` },
    );
  }
  return tried;
}

function triedOf(entry: ExporterConfig, outcome: ExportOutcome | undefined): Tried {
  if (outcome === undefined) return { isRight: true, text: `${entry.name}: nothing to try` };
  const address = addressOf(entry);
  const where = address === undefined ? entry.name : `${entry.name}: ${maskedUrl(address)}`;
  return outcome.kind === 'sent'
    ? { isRight: true, text: `${where} accepts the credentials` }
    : { isRight: false, text: `${where} ${answerText(outcome.error)}` };
}

function addressOf(entry: ExporterConfig): string | undefined {
  if (entry.to === 'metrics') return entry.push?.url;
  return 'tracesEndpoint' in entry
    ? entry.tracesEndpoint
    : 'logsEndpoint' in entry
      ? entry.logsEndpoint
      : 'endpoint' in entry
        ? entry.endpoint
        : undefined;
}

function answerText(error: string): string {
  const { todo } = failureReason({ error });
  return `${error.startsWith('status ') ? 'answers' : 'does not answer:'} ${error}${todo === '' ? '' : `. ${todo}`}`;
}
