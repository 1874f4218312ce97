/** `tracejury inspect`: what the collectors make of recorded spans, and what each evaluator could make of that. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { readConfig } from '../../config/load.ts';
import { UsageError, type Command, type CommandInput, type ExitCode } from '../command.ts';
import { readBodies } from '../inspect/bodies.ts';
import { inspected } from '../inspect/inspected.ts';
import { replayed } from '../inspect/replay.ts';
import { readRecorded } from '../inspect/recording.ts';
import { reportJson } from '../inspect/report-json.ts';
import { reportText } from '../inspect/report-text.ts';

const inputsMax = 1_000;

export const inspect: Command = {
  name: 'inspect',
  usage: 'FILE… [options]',
  summary:
    'Shows what is read out of recorded spans: runs, tool calls and where they come from, and for every evaluator whether it could score.',
  examples: [
    { does: 'Shows what the collectors read from the spans of a file:', line: 'tracejury inspect spans.jsonl' },
    { does: 'Shows whether the evaluators of a configuration could score them:', line: 'tracejury inspect spans.jsonl -c tracejury.yaml' },
  ],
  options: {
    config: { type: 'string', short: 'c', value: 'FILE', summary: 'configuration whose evaluators are used; without it the default ones' },
    format: { type: 'string', value: 'text|json', summary: 'text (default) or json' },
  },
  positionalsMax: inputsMax,
  async run({ options, positionals, env, say, complain }: CommandInput): Promise<ExitCode> {
    const { config: file, format = 'text' } = options;
    if (positionals.length === 0)
      throw new UsageError('Name a file of recorded spans, a folder of recorded requests, or - for standard input.');
    if (file !== undefined && typeof file !== 'string') throw new UsageError('-c takes one file.');
    if (format !== 'text' && format !== 'json') throw new UsageError('--format is text or json.');
    const { config } = await readConfig({ file, env, evaluators });
    const recorded = readRecorded(await readBodies(positionals, process.stdin));
    const result = replayed(recorded, config);
    const runs = inspected(result.runs, { plan: config.evaluators, context: evaluationContext() });
    say(format === 'json' ? reportJson({ recorded, replayed: result, runs }) : reportText({ recorded, replayed: result, runs }));
    if (runs.length > 0) return 0;
    complain('No agent run was found.');
    return 1;
  },
};
