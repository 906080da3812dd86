// A worker of a subscription, as far as tests need one: it takes batches and acknowledges them (docs/subscriptions.md).
import { connect, type Socket } from "node:net";

export class Worker {
  private constructor(private readonly socket: Socket) {}

  /** Whether the server has ended the connection. */
  isEnded = false;

  /** Connects to a subscription of a database, and acknowledges what comes. Resolves once the server has accepted it. */
  static async start(url: string, database: string, subscription: string, workerId: string): Promise<Worker> {
    const info = (await (await fetch(`${url}/info/tcp`)).json()) as { Url: string };
    const { hostname, port } = new URL(info.Url.replace(/^tcp/, "http"));
    const socket = connect(Number(port), hostname);
    const worker = new Worker(socket);
    socket.on("close", () => (worker.isEnded = true));
    socket.on("error", () => undefined);
    const hello = { DatabaseName: database, Operation: "Subscription", OperationVersion: 53000 };
    const options = { SubscriptionName: subscription, Strategy: "OpenIfFree", WorkerId: workerId, MaxDocsPerBatch: 100 };
    const accepted = new Promise<void>((resolve, reject) => {
      let text = "";
      socket.on("data", (part: Buffer) => {
        text += part.toString();
        if (text.includes('"Accepted"')) resolve();
        // Enough of the protocol for short batches, which come in one piece or in a few.
        while (text.includes('{"Type":"EndOfBatch"}')) {
          text = text.slice(text.indexOf('{"Type":"EndOfBatch"}') + '{"Type":"EndOfBatch"}'.length);
          socket.write('{"Type":"Acknowledge","ChangeVector":"all of it"}');
        }
      });
      socket.on("close", () => reject(new Error(`the worker was refused: ${text}`)));
    });
    socket.write(JSON.stringify(hello) + JSON.stringify(options));
    await accepted;
    return worker;
  }

  stop() {
    this.socket.destroy();
  }
}
