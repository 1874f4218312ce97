/**
 * The floor that no service on Node can go below: `node:http` that reads a body, puts it together and answers 200; with `gunzip` it
 * inflates it too. It also is the backend that throws away what exporters send.
 */
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

const inflates = process.argv.includes('gunzip');
let bytes = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    bytes += inflates ? gunzipSync(body).length : body.length;
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`OTLP         http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});
process.once('SIGTERM', () => {
  process.stdout.write(`${bytes} bytes\n`);
  server.close();
  server.closeAllConnections();
});
