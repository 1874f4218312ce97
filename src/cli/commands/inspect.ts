/** `tracejury inspect`: what the collectors make of recorded spans, and what each evaluator could make of that. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { readConfig } from '../../config/load.ts';
import { UsageError, type Command, type CommandInput, type ExitCode, textOption, reportFormat } from '../command.ts';
import { readBodies, readRecorded, type Recorded } from '../inspect/recording.ts';
import { differences, readExpected } from '../inspect/expected-runs.ts';
import { inspected, replayed } from '../inspect/inspection.ts';
import { oneLine } from '../terminal.ts';
import { collectors } from '../../../collectors/index.ts';
import { proposedDialects } from '../inspect/proposed-dialect.ts';
import { reportJson } from '../inspect/report-json.ts';
import { reportText } from '../inspect/report-text.ts';

const inputsMax = 1_000;
const differenceCharsMax = 1_000;

export const inspect: Command = {
  name: 'inspect',
  usage: 'FILE… [options]',
  summary:
    'Shows what is read out of recorded spans: runs, tool calls and where they come from, and for every evaluator whether it could score.',
  examples: [
    { does: 'Shows what the collectors read from the spans of a file:', line: 'tracejury inspect spans.jsonl' },
    {
      does: 'Prints an entry of dialects for spans of an SDK that no collector knows:',
      line: 'tracejury inspect spans.jsonl --propose-dialect',
    },
    {
      does: 'Compares what is read with what the agent did:',
      line: 'tracejury inspect spans.jsonl -c tracejury.yaml --expect expected.json',
    },
    { does: 'Shows whether the evaluators of a configuration could score them:', line: 'tracejury inspect spans.jsonl -c tracejury.yaml' },
  ],
  options: {
    config: { type: 'string', short: 'c', value: 'FILE', summary: 'configuration whose evaluators are used; without it the default ones' },
    format: { type: 'string', value: 'text|json', summary: 'text (default) or json' },
    'propose-dialect': {
      type: 'boolean',
      summary: 'print an entry of dialects for the spans that no collector of an SDK reads',
    },
    expect: { type: 'string', value: 'FILE', summary: 'compare the runs with what the agent did, as JSON; exit 1 on a difference' },
  },
  positionalsMax: inputsMax,
  async run(input: CommandInput): Promise<ExitCode> {
    const { options, positionals, env, say, complain } = input;
    const [file, expect] = [textOption(input, 'config'), textOption(input, 'expect')];
    if (positionals.length === 0)
      throw new UsageError('Name a file of recorded spans, a folder of recorded requests, or - for standard input.');
    const format = reportFormat(input);
    if (expect !== undefined && options['propose-dialect'] === true)
      throw new UsageError('--propose-dialect and --expect do different things: give one of them.');
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
  else complain('Collectors of SDKs read every span: there is nothing to propose.');
  return proposed === undefined ? 1 : 0;
}

function compared(found: readonly string[], say: CommandInput['say']): ExitCode {
  say(found.length === 0 ? 'The runs are what was expected.' : found.map((line) => oneLine(line, differenceCharsMax)).join('\n'));
  return found.length === 0 ? 0 : 1;
}
