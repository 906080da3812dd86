// First programs for each client, with this server's address and the database at hand filled in.

export type Snippet = { key: string; name: string; install: string; code: string };

/** Text inside of a string with double quotes, in all of these languages. */
const inQuotes = (text: string) => JSON.stringify(text).slice(1, -1);

export function snippets(server: string, database: string): Snippet[] {
  const url = inQuotes(server);
  const name = inQuotes(database);
  const address = `${server}/databases/${encodeURIComponent(database)}`;
  return [
    {
      key: "curl",
      name: "curl",
      install: "",
      code: `# write
curl -X PUT '${address}/docs?id=notes/1' \\
  -d '{"Text":"Hello","@metadata":{"@collection":"Notes"}}'

# read
curl '${address}/docs?id=notes/1'

# query
curl '${address}/queries' -d '{"Query":"from Notes"}'
`,
    },
    {
      key: "node",
      name: "Node.js",
      install: "npm install ravendb",
      code: `import { DocumentStore } from "ravendb";

class Note { constructor(text) { this.text = text; } }

const store = new DocumentStore("${url}", "${name}");
store.initialize();

const session = store.openSession();
const note = new Note("Hello from Node.js");
await session.store(note);              // an id such as notes/1-A
await session.saveChanges();            // one transaction

const found = await session.query(Note).whereEquals("text", "Hello from Node.js").all();
console.log(note.id, found.length);
store.dispose();
`,
    },
    {
      key: "python",
      name: "Python",
      install: "pip install ravendb",
      code: `from ravendb import DocumentStore

class Note:
    def __init__(self, text=None, Id=None):
        self.text = text
        self.Id = Id

store = DocumentStore("${url}", "${name}")
store.initialize()

with store.open_session() as session:
    note = Note("Hello from Python")
    session.store(note)                 # an id such as notes/1-A
    session.save_changes()              # one transaction
    print(note.Id, len(list(session.query_collection("Notes", Note))))
store.close()
`,
    },
    {
      key: "csharp",
      name: "C#",
      install: "dotnet add package RavenDB.Client",
      code: `using Raven.Client.Documents;

using var store = new DocumentStore { Urls = ["${url}"], Database = "${name}" }.Initialize();
using var session = store.OpenSession();

var note = new Note { Text = "Hello from C#" };
session.Store(note);                // an id such as notes/1-A
session.SaveChanges();              // one transaction
Console.WriteLine(note.Id);

class Note { public string Id { get; set; } public string Text { get; set; } }
`,
    },
    {
      key: "java",
      name: "Java",
      install: "net.ravendb:ravendb",
      code: `import net.ravendb.client.documents.DocumentStore;
import net.ravendb.client.documents.session.IDocumentSession;

public class Hello {
    public static class Note {
        public String text;
    }

    public static void main(String[] args) {
        try (DocumentStore store = new DocumentStore("${url}", "${name}")) {
            store.initialize();
            try (IDocumentSession session = store.openSession()) {
                Note note = new Note();
                note.text = "Hello from Java";
                session.store(note);            // an id such as notes/1-A
                session.saveChanges();          // one transaction
                System.out.println(session.advanced().getDocumentId(note));
            }
        }
    }
}
`,
    },
    {
      key: "go",
      name: "Go",
      install: "go get github.com/ravendb/ravendb-go-client",
      code: `package main

import (
	"fmt"

	ravendb "github.com/ravendb/ravendb-go-client"
)

type Note struct {
	ID   string
	Text string
}

func main() {
	store := ravendb.NewDocumentStore([]string{"${url}"}, "${name}")
	if err := store.Initialize(); err != nil {
		panic(err)
	}
	defer store.Close()
	session, err := store.OpenSession("")
	if err != nil {
		panic(err)
	}
	defer session.Close()

	note := &Note{Text: "Hello from Go"}
	if err := session.Store(note); err != nil { // an id such as notes/1-A
		panic(err)
	}
	if err := session.SaveChanges(); err != nil { // one transaction
		panic(err)
	}
	fmt.Println(note.ID)
}
`,
    },
  ];
}
