/** The certificates of `test/fixtures/tls`; the page there explains each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const certificateFolder = join(import.meta.dirname, '../fixtures/tls');

function pem(name: string): string {
  return readFileSync(join(certificateFolder, `${name}.pem`), 'utf8');
}

export const serverTls = { cert: pem('cert'), key: pem('key') };
/** Takes only clients whom the authority knows. */
export const mutualTls = { ...serverTls, clientCa: pem('client-ca') };
/** The authority that a client needs to trust the server. */
export const trust = { ca: serverTls.cert };
export const knownClient = { ...trust, cert: pem('client'), key: pem('client-key') };
/** Has a self-made certificate. */
export const stranger = { ...trust, ...serverTls };
