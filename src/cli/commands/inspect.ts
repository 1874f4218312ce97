/** `tracejury inspect`: shows the runs that the collectors read from recorded spans, and what each evaluator could score. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { readConfig } from '../../config/load.ts';
import { UsageError, type CommandProgram, type CommandInput, type ExitCode, textOption, reportFormat } from '../command.ts';
import { configOption, formatOption } from '../common-options.ts';
import { readBodies, readRecorded, type Recorded } from '../inspect/recording.ts';
import { differences, readExpected } from '../inspect/expected-runs.ts';
import { inspected, replayed } from '../inspect/inspection.ts';
import { oneLine } from '../../model/one-line.ts';
import { collectors } from '../../../collectors/index.ts';
import { proposedDialects } from '../inspect/proposed-dialect.ts';
import { reportJson } from '../inspect/report-json.ts';
import { reportText } from '../inspect/report-text.ts';

const inputsMax = 1_000;
const differenceCharsMax = 1_000;

export const inspect: CommandProgram = {
  examples: [
    { does: 'Shows the runs in the spans of a file:', line: 'tracejury inspect spans.jsonl' },
    {
      does: 'Prints an entry of dialects for spans of an unknown SDK:',
      line: 'tracejury inspect spans.jsonl --propose-dialect',
    },
    {
      does: 'Compares the runs with the known behaviour of the agent:',
      line: 'tracejury inspect spans.jsonl -c tracejury.yaml --expect expected.json',
    },
    {
      does: 'Shows whether the evaluators of a configuration could score the runs:',
      line: 'tracejury inspect spans.jsonl -c tracejury.yaml',
    },
  ],
  options: {
    config: configOption('uses the evaluators of this configuration (default: the built-in ones)'),
    format: formatOption('writes text (default) or json', 'text|json'),
    'propose-dialect': {
      type: 'boolean',
      summary: 'prints an entry of dialects for spans of an unknown SDK',
    },
    expect: { type: 'string', value: 'FILE', summary: 'compares the runs with expected runs in JSON, and exits with 1 on a difference' },
  },
  positionalsMax: inputsMax,
  async run(input: CommandInput): Promise<ExitCode> {
    const { options, positionals, env, say, complain } = input;
    const [file, expect] = [textOption(input, 'config'), textOption(input, 'expect')];
    if (positionals.length === 0)
      throw new UsageError('Name a file of recorded spans, a folder of recorded requests, or - for standard input.');
    const format = reportFormat(input);
    if (expect !== undefined && options['propose-dialect'] === true)
      throw new UsageError('--propose-dialect and --expect exclude each other.');
    const { config } = await readConfig({ file, env, evaluators });
    const recorded = readRecorded(await readBodies(positionals, process.stdin));
    if (options['propose-dialect'] === true) return propose(recorded, say, complain);
    const result = replayed(recorded, config);
    if (expect !== undefined) {
      const [wanted] = await readBodies([expect], process.stdin);
      return compared(wanted === undefined ? [] : differences(readExpected(wanted), result.runs), say);
    }
    const runs = inspected(result.runs, { plan: config.evaluators, context: evaluationContext() });
    say(format === 'json' ? reportJson({ recorded, replayed: result, runs }) : reportText({ recorded, replayed: result, runs }));
    if (runs.length > 0) return 0;
    complain('No agent run was found.');
    return 1;
  },
};

function propose({ spans }: Recorded, say: CommandInput['say'], complain: CommandInput['complain']): ExitCode {
  const proposed = proposedDialects(spans, collectors);
  if (proposed !== undefined) say(proposed);
  else complain('The collectors know the SDK of every span: there is nothing to propose.');
  return proposed === undefined ? 1 : 0;
}

function compared(found: readonly string[], say: CommandInput['say']): ExitCode {
  say(found.length === 0 ? 'The runs are as expected.' : found.map((line) => oneLine(line, differenceCharsMax)).join('\n'));
  return found.length === 0 ? 0 : 1;
}
