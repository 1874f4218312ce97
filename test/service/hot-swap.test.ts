import { expect, test } from 'vitest';
import { exchangeable } from '../../src/service/hot-swap.ts';

function client(name: string, stopped: string[]) {
  return { name, stop: async () => void stopped.push(name) };
}

test('exchangeable: what is under way ends with the client that it began with, which is stopped once and only then', async () => {
  const stopped: string[] = [];
  const place = exchangeable(client('first', stopped));
  let end = (): void => undefined;
  const under = place.use(async ({ name }) => {
    await new Promise<void>((resolve) => (end = resolve));
    return name;
  });
  place.exchange(client('second', stopped));
  expect([await place.use(async ({ name }) => name), stopped]).toEqual(['second', []]);
  end();
  expect([await under, stopped]).toEqual(['first', ['first']]);
  place.exchange(client('third', stopped));
  expect(stopped).toEqual(['first', 'second']);
  await place.stop();
  expect(stopped).toEqual(['first', 'second', 'third']);
});

test('exchangeable: work that fails lets its client go as well', async () => {
  const stopped: string[] = [];
  const place = exchangeable(client('first', stopped));
  const under = place.use(async () => Promise.reject(new Error('no')));
  place.exchange(client('second', stopped));
  await expect(under).rejects.toThrow('no');
  expect(stopped).toEqual(['first']);
});
