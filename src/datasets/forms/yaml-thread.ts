/** The thread that reads one YAML text: its parser works without a break, and others are not to wait for it. */
import { parentPort, workerData } from 'node:worker_threads';
import { yamlValue } from './yaml-value.ts';

parentPort?.postMessage(yamlValue(String(workerData)));
