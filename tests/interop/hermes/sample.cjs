// An extension around the reader and the writer that the protocol document shows for Node, which are here as they
// are there, to the letter.

// --- The document's sample. -------------------------------------------------------------------
const readline = require('readline');

class MessageReader {
  constructor() {
    this.buffer = '';
    this.contentLength = null;
  }

  feed(chunk) {
    this.buffer += chunk;
    return this.tryParse();
  }

  tryParse() {
    const messages = [];

    while (true) {
      if (this.contentLength === null) {
        const headerEnd = this.buffer.indexOf('\r\n\r\n');
        if (headerEnd === -1) break;

        const header = this.buffer.slice(0, headerEnd);
        const match = header.match(/Content-Length: (\d+)/);
        if (!match) throw new Error('Invalid header');

        this.contentLength = parseInt(match[1], 10);
        this.buffer = this.buffer.slice(headerEnd + 4);
      }

      if (Buffer.byteLength(this.buffer, 'utf8') < this.contentLength) break;

      // extract exactly contentLength bytes
      const content = Buffer.from(this.buffer, 'utf8')
        .slice(0, this.contentLength)
        .toString('utf8');

      messages.push(JSON.parse(content));
      this.buffer = this.buffer.slice(content.length);
      this.contentLength = null;
    }

    return messages;
  }
}

function writeMessage(msg) {
  const content = JSON.stringify(msg);
  const contentBytes = Buffer.byteLength(content, 'utf8');
  process.stdout.write(`Content-Length: ${contentBytes}\r\n\r\n`);
  process.stdout.write(content);
}
// --- The end of it. ---------------------------------------------------------------------------

const reader = new MessageReader();

function handle(message) {
  if (message.method === 'initialize') {
    const result = { name: 'sample', version: '1.0.0', capabilities: { commands: ['sample/name'] } };
    writeMessage({ jsonrpc: '2.0', id: message.id, result });
  } else if (message.method === 'command/execute') {
    writeMessage({ jsonrpc: '2.0', id: 1, method: 'editor/getMessage', params: { format: 'json' } });
  } else if (message.method === 'shutdown') {
    writeMessage({ jsonrpc: '2.0', id: message.id, result: { success: true } });
  } else if (message.id === 1 && message.result) {
    const { fields } = JSON.parse(message.result.message).segments.find(({ segment }) => segment === 'PID');
    const patches = [{ path: 'PID.5.1', value: fields['5']['1'].toUpperCase() }];
    writeMessage({ jsonrpc: '2.0', id: 2, method: 'editor/patchMessage', params: { patches } });
  }
}

process.stdin.on('data', (chunk) => reader.feed(chunk).forEach(handle));
