/** Messages about issues of a whole service: from failed runs to a signed message, and a decision over the API. */
import { expect, test } from 'vitest';
import { signatureHeaders } from '../../src/exporters/webhook/webhook.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, parseJson } from '../../src/model/json.ts';
import { eventually, running, sample, sendAgentRun } from './running.ts';
import { receiver } from './webhook-receiver.ts';

const secret = 'a-secret-of-at-least-24-bytes';

test('issues: a service sends a webhook a message for a new and for a resolved issue, once each', async () => {
  const { url, messages } = await receiver();
  const service = await running(`evaluators: [ tool_error ]
redact: [ { match: email } ]
issues: { to: [ tickets ] }
export: [ { to: webhook, name: tickets, endpoint: "${url}", secret: "${secret}", private_addresses: true, only: { agents: [ none ] } } ]
`);
  for (let runs = 0; runs < 3; runs++) await sendAgentRun(service.otlp, { agent: 'support', resource: { 'service.version': '1.3' } });
  const told = async (type: string): Promise<JsonObject> =>
    await eventually(() => {
      const found = messages.map(({ body }) => parseJson(body) ?? null).find((one) => isJsonObject(one) && one['type'] === type);
      const data = isJsonObject(found ?? null) ? (found as JsonObject)['data'] : undefined;
      const issues = isJsonObject(data ?? null) ? ((data as JsonObject)['issues'] ?? null) : null;
      return isJsonArray(issues) ? issues.find((one) => isJsonObject(one)) : undefined;
    }, type);
  const issue = await told('tracejury.issue_new');
  expect(issue).toMatchObject({ agent: 'support', tool: 'notify', state: 'open', runs: 3, first_version: '1.3', changed_by: null });
  const id = String(issue['id']);
  const answer = await fetch(`${service.console}/api/v1/issues/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: jsonText({ state: 'resolved', version: '1.4', by: 'ann', note: 'mail to ann@example.org' }),
  });
  expect(answer.status).toBe(200);
  expect(await told('tracejury.issue_resolved')).toMatchObject({
    id,
    state: 'resolved',
    changed_by: 'ann',
    fixed_in: '1.4',
    note: 'mail to [redacted]',
  });
  expect(messages).toHaveLength(2);
  for (const { headers, body } of messages)
    expect(headers['webhook-signature']).toBe(
      signatureHeaders({ id: String(headers['webhook-id']), atSeconds: Number(headers['webhook-timestamp']), body }, secret)[
        'webhook-signature'
      ],
    );
  expect(sample(await service.metrics(), 'tracejury_issue_messages_total', { tracejury_outcome: 'sent' })).toBe(2);
  await service.stop();
});
