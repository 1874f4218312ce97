/**
 * `npm run check -- mlflow`: runs docs/guides/mlflow.md with a real MLflow. Exit code 1 when a condition is missed.
 *
 *   --url URL          uses an MLflow that runs
 *   --mlflow COMMAND   starts one with this command (mlflow); `pip install mlflow` brings it
 *   --python COMMAND   a Python that can import mlflow (python3): its client reads the scores
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { equal, tell } from '../../bench/overload/conditions.ts';
import { backendServer } from '../server.ts';
import { scoresTrial, type Found } from '../trial.ts';
import { runnerArguments } from '../../runner-arguments.ts';

const { values } = runnerArguments({
  options: { url: { type: 'string' }, mlflow: { type: 'string', default: 'mlflow' }, python: { type: 'string', default: 'python3' } },
});
const server = await backendServer(values.url, {
  command: values.mlflow,
  args: ({ port, folder }) => [
    'server',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--workers',
    '1',
    '--backend-store-uri',
    `sqlite:///${join(folder, 'mlflow.db')}`,
  ],
  probe: { path: '/health' },
});

/** The output of the script beside this file. */
interface Read {
  readonly assessments: readonly {
    readonly id: string;
    readonly name: string;
    readonly span_id: string | null;
    readonly value: number | null;
    readonly rationale: string;
    readonly source: string;
  }[];
  readonly searched: readonly string[];
}

const run = promisify(execFile);
let last: { readonly read: Read; readonly trace: string } | undefined;

async function scores(traceId: string): Promise<readonly Found[]> {
  const { stdout } = await run(values.python, [join(import.meta.dirname, 'read.py'), server.url, `tr-${traceId}`]);
  last = { read: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Read, trace: `tr-${traceId}` };
  return last.read.assessments.map(({ id, name, span_id: span, value, rationale }) => ({
    id,
    name,
    spanId: span ?? undefined,
    score: value,
    explanation: rationale,
  }));
}

try {
  const conditions = await scoresTrial({
    page: 'mlflow.md',
    url: server.url,
    headers: { 'x-mlflow-experiment-id': '0' },
    scores,
    runScoresOn: ['trace'],
  });
  const [found, source] = [
    last?.read.searched.includes(last.trace),
    [...new Set(last?.read.assessments.map((one) => one.source))].join(', '),
  ];
  const holds = tell('Scores in MLflow, read with its own client', [
    ...conditions,
    equal('a search for feedback.tool_error = 0.5 finds the trace', 'true', String(found)),
    equal('their source', 'CODE', source),
  ]);
  process.exitCode = holds ? 0 : 1;
} finally {
  await server.stop();
}
