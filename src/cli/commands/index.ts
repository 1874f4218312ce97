/** The commands, in the order of the usage text. A command is loaded when it runs. */
import type { Command } from '../command.ts';

export const commands: readonly Command[] = [
  {
    name: 'serve',
    usage: '[-c FILE] [--port N] [--log-level LEVEL]',
    summary: 'Runs the service: receives spans, scores runs, sends scores.',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'init',
    usage: '[--agent A] [--judge URL] [--backend NAME] [options]',
    summary: 'Writes a commented configuration from three questions, or from options.',
    load: async () => (await import('./init.ts')).init,
  },
  {
    name: 'runs',
    usage: '[--fail] [--status S] [--agent A] [--where FILTER]… [--follow] [options]',
    summary: 'Shows stored runs with their verdicts, newest first, or as they close.',
    load: async () => (await import('./runs.ts')).runs,
  },
  {
    name: 'issues',
    usage: '[list|show|resolve|ignore|open|merge] …',
    summary: 'Lists classes of failures and decides on them. Exits with 1 on issues of a release with --fail-on.',
    load: async () => (await import('./issues.ts')).issues,
  },
  {
    name: 'eval',
    usage: 'FILE… [options]',
    summary:
      'Scores recorded runs offline and exits with 1 when a verdict or a gate fails, when a run ended in an error, or when nothing was scored. Files hold OTLP spans, agent traces or OpenAI-format messages.',
    load: async () => (await import('./eval.ts')).evaluate,
  },
  {
    name: 'replay',
    usage: '[FILE…] -c NEW.yaml [options]',
    summary:
      'Scores stored runs again under another configuration, and shows flipped verdicts, rates before and after, and the cost of judges. Changes nothing without --write. Reads files of OTLP spans instead of the store when it names them.',
    load: async () => (await import('./replay.ts')).replayRuns,
  },
  {
    name: 'judge',
    usage: 'check|forecast|draft -c FILE [options]',
    summary: 'Compares judges with labels of people, forecasts their daily cost, or drafts a judge from labels.',
    load: async () => (await import('./judge.ts')).judge,
  },
  {
    name: 'dataset',
    usage: 'add|list|show|export|import|diff|split|review|remove …',
    summary: 'Keeps datasets in the store: examples of stored runs and of test sets, by version.',
    load: async () => (await import('./dataset.ts')).dataset,
  },
  {
    name: 'experiment',
    usage: 'run|compare|list|show|delete …',
    summary: 'Runs an agent over a dataset and scores every run; compares, lists, shows and deletes experiments.',
    load: async () => (await import('./experiment.ts')).experiment,
  },
  {
    name: 'kafka',
    usage: 'init|status|move -c FILE',
    summary: 'Makes the topic of a journal in Kafka, shows how far the replicas are, and moves open runs of one machine there.',
    load: async () => (await import('./kafka.ts')).kafka,
  },
  {
    name: 'store',
    usage: 'copy --from URL --to URL [--dry-run]',
    summary: 'Copies a store from SQLite to PostgreSQL, or back.',
    load: async () => (await import('./store.ts')).store,
  },
  {
    name: 'queue',
    usage: 'list|show|next|answer|add …',
    summary: 'Shows and answers annotation queues, of a store file or of a running service.',
    load: async () => (await import('./queue.ts')).queue,
  },
  {
    name: 'mcp',
    usage: '[--url URL]',
    summary:
      'Serves issues, runs, experiments and datasets of a running service to coding agents: an MCP server on standard input and output.',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  {
    name: 'inspect',
    usage: 'FILE… [options]',
    summary: 'Shows the runs and tool calls in recorded spans, the source of each field, and whether each evaluator could score them.',
    load: async () => (await import('./inspect.ts')).inspect,
  },
  {
    name: 'record',
    usage: '[--output FILE] [--port N] -- COMMAND [ARGUMENT]…',
    summary: 'Runs a command with an OTLP receiver beside it and writes its spans to a file.',
    load: async () => (await import('./record.ts')).record,
  },
  {
    name: 'import',
    usage: '--from BACKEND --url URL [options]',
    summary: 'Sends the spans that a tracing backend already has through the service, so that they are scored.',
    load: async () => (await import('./import.ts')).importSpans,
  },
  {
    name: 'export',
    usage: '-c FILE FILE…|--run TRACE_ID[/SPAN_ID] [options]',
    summary: 'Sends scores of recorded or stored runs to the backends of a configuration.',
    load: async () => (await import('./export.ts')).exportScores,
  },
  {
    name: 'config',
    usage: 'check|print|schema [FILE]',
    summary: 'Checks a configuration, prints it with its defaults, or prints its JSON Schema.',
    load: async () => (await import('./config.ts')).config,
  },
  {
    name: 'evaluators',
    usage: '[NAME]',
    summary: 'Lists the evaluators, or shows one with its needs, options and threshold.',
    load: async () => (await import('./evaluators.ts')).evaluators,
  },
  {
    name: 'demo',
    usage: '[options]',
    summary: 'Sends a mixed day of simulated agent runs to a running service and shows their verdicts.',
    load: async () => (await import('./demo.ts')).demo,
  },
];
