/** A long text, made and sent between other work. */
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

/** A piece is made in a turn of the event loop of its own, when the client has taken those before. None is made for a client that is gone. */
export function inPieces(pieces: Iterable<string>): Readable {
  return Readable.from(eachInItsTurn(pieces));
}

async function* eachInItsTurn(pieces: Iterable<string>): AsyncGenerator<string, void, undefined> {
  await turn();
  for (const piece of pieces) {
    yield piece;
    await turn();
  }
}
