/** The address of the console in the links of webhooks. */
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { loadConfig } from '../../src/config/load.ts';

const oidc =
  'oidc: { issuer: "https://login.example.org", client_id: a, client_secret: "a-secret-of-the-client", allowed: [ { email: "*@example.org", may: [read] } ], url: "https://people.example.org" }';

const cases: readonly { readonly title: string; readonly listen: string; readonly is: string | undefined }[] = [
  { title: 'the listener', listen: 'console: "127.0.0.1:5000"', is: 'http://127.0.0.1:5000' },
  { title: 'the key', listen: `console_url: "https://jury.example.org", ${oidc}`, is: 'https://jury.example.org' },
  { title: 'the sign-in', listen: oidc, is: 'https://people.example.org' },
  { title: 'no listener on all addresses', listen: 'console: "0.0.0.0:4380", insecure: true', is: undefined },
  { title: 'no free port', listen: 'console: "127.0.0.1:0"', is: undefined },
];

for (const { title, listen, is } of cases)
  test(`console address: webhooks link to that of ${title}`, () => {
    const text = `listen: { ${listen} }\nexport: [ { to: webhook, endpoint: "http://127.0.0.1:9/x", body: slack, private_addresses: true } ]`;
    const [webhook] = loadConfig({ file: 'a.yaml', text, env: {}, evaluators }).config.exporters;
    expect(webhook?.to === 'webhook' ? webhook.webhook.console : 'no webhook').toBe(is);
  });
