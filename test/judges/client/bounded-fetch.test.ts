/** The client of judges against servers on loopback. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { boundedFetch } from '../../../src/judges/client/bounded-fetch.ts';
import type { ClientTls } from '../../../src/model/client-tls.ts';
import { tlsOptions } from '../../../src/receivers/tls.ts';
import { knownClient, mutualTls } from '../../receivers/certificates.ts';
import { chatServer, tlsChatServer, type ChatServer, type Play } from '../chat-server.ts';

const servers: { readonly [way: string]: { readonly tls?: ClientTls; readonly made: (play: Play) => Promise<ChatServer> } } = {
  HTTP: { made: (play) => chatServer(play) },
  'HTTPS with certificates': { tls: knownClient, made: (play) => tlsChatServer(tlsOptions(mutualTls), play) },
};

for (const [way, { tls, made }] of Object.entries(servers))
  test(`bounded-fetch: over ${way}, an abort ends an answer that stopped in its middle, also after garbage collections`, async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const begun = Promise.withResolvers<void>();
    const server = await made((response) => {
      response.write('{"choices":');
      begun.resolve();
    });
    onTestFinished(() => server.close());
    const stopping = new AbortController();
    const answer = boundedFetch(1024, tls)(server.baseUrl, { method: 'POST', body: '{}', signal: stopping.signal });
    const outcome = answer.catch((error: unknown) => error);
    await begun.promise;
    for (let round = 0; round < 5; round++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    stopping.abort();
    expect(await outcome).toMatchObject({ name: 'AbortError' });
  }, 5_000);
