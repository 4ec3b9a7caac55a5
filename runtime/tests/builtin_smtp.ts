/**
 * An SMTP server that takes every mail.
 *
 * Responsible for one connection at a time, without encryption and authentication.
 */

export interface TakenMail {
  from: string;
  to: string[];
  data: string;
}

export function startSmtp() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const mails: TakenMail[] = [];
  const serving = serve(listener, mails);
  return {
    port: (listener.addr as Deno.NetAddr).port,
    mails,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await serving;
    },
  };
}

async function serve(listener: Deno.Listener, mails: TakenMail[]): Promise<void> {
  for await (const connection of listener) {
    using open = connection;
    await converse(open, mails);
  }
}

async function converse(connection: Deno.Conn, mails: TakenMail[]): Promise<void> {
  const say = (line: string) =>
    connection.write(new TextEncoder().encode(`${line}\r\n`));
  let mail: TakenMail = { from: "", to: [], data: "" };
  let isData = false;
  await say("220 ready");
  for await (const line of linesOf(connection)) {
    if (isData) {
      isData = line !== ".";
      if (isData) {
        mail.data += `${line}\n`;
        continue;
      }
      mails.push(mail);
      mail = { from: "", to: [], data: "" };
      await say("250 taken");
      continue;
    }
    const command = line.slice(0, 4).toUpperCase();
    if (command === "MAIL") mail.from = /<(.*?)>/.exec(line)![1]!;
    if (command === "RCPT") mail.to.push(/<(.*?)>/.exec(line)![1]!);
    isData = command === "DATA";
    await say(isData ? "354 go on" : command === "QUIT" ? "221 bye" : "250 ok");
    if (command === "QUIT") return;
  }
}

async function* linesOf(connection: Deno.Conn): AsyncGenerator<string> {
  let rest = "";
  const texts = connection.readable.pipeThrough(new TextDecoderStream());
  for await (const text of texts.values({ preventCancel: true })) {
    const lines = (rest + text).split("\r\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
