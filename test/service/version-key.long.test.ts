/** The version of an agent from the attribute that the configuration names. */
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { eventually, running } from './running.ts';

test('version key: an attribute of the agent’s span counts before one of the resource, and without either there is no version', async () => {
  const service = await running('groups: { version_key: attributes.git.sha }\n');
  onTestFinished(() => service.stop());
  const given = [
    { trace: 1, attributes: { 'git.sha': 'of-the-span' }, resource: { 'git.sha': 'of-the-resource', 'service.version': '1' } },
    { trace: 2, attributes: {}, resource: { 'git.sha': 'of-the-resource', 'service.version': '1' } },
    { trace: 3, attributes: { 'git.sha': 7 }, resource: { 'service.version': '1' } },
    { trace: 4, attributes: {}, resource: { 'service.version': '1' } },
  ] as const;
  const start = Date.now() - 60_000;
  const spans = given.flatMap(({ trace, attributes, resource }) => [
    agentSpan({ id: trace * 10, trace, agent: 'a', start: start + trace, end: start + trace + 5, attributes, resource }),
    toolSpan({ id: trace * 10 + 1, parent: trace * 10, trace, start: start + trace, end: start + trace + 1, result: 'ok', resource }),
  ]);
  await fetch(`${service.otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: writeTraces(spans, 'protobuf'),
  });
  const runs = await eventually(async () => {
    const { runs: all } = (await (await fetch(`${service.console}/api/v1/runs`)).json()) as { readonly runs: readonly JsonObject[] };
    return all.length === 4 ? all : undefined;
  }, 'four runs');
  expect(runs.map(({ version }) => version)).toEqual([null, '7', 'of-the-resource', 'of-the-span']);
});
