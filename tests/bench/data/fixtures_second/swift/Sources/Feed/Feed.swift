import Foundation

actor Feed {
    typealias Handler = (Article) -> Void

    private let store: ArticleStore
    private var handlers: [Handler] = []

    init(store: ArticleStore = .shared) {
        self.store = store
    }

    func subscribe(_ handler: @escaping Handler) -> Self {
        handlers.append(handler)
        return self
    }

    func publish(_ article: Article) async throws {
        var copy = article
        copy.add(Tag(name: "published"))
        store.save(copy)
        handlers.forEach { $0(copy) }
        try await notify(copy.id)
    }

    private func notify(_ id: String) async throws {
        do {
            let article = try store.load(id)
            _ = article.summary()
        } catch let error as FeedError {
            log(error.reason)
        }
        if let found = store[id] {
            log(found.summary())
        }
        store.filter("a").forEach { log($0.summary()) }
    }
}

func log(_ text: String) { print(text) }

final class Screen: StoreDelegate {
    private let feed: Feed
    private var selected: Article?

    init(feed: Feed) {
        self.feed = feed
        ArticleStore.shared.delegate = self
    }

    func stored(id: String) {
        render { $0.uppercased() }
        selected?.add(Tag(name: id))
        log(selected?.summary() ?? "")
    }

    private func render(_ transform: (String) -> String) {
        log(transform(selected?.title.shortened(to: 4) ?? ""))
    }
}

@main
struct Main {
    static func main() async throws {
        let feed = Feed()
        let screen = Screen(feed: feed)
        _ = await feed.subscribe { article in log(article.summary()) }
        try await feed.publish(.sample())
        screen.stored(id: "x")
        ArticleStore.shared.save(Article.sample("y"))
        let index = Index()
        index.first("word")?.matches("x")
        index.titles("word").forEach(log)
    }
}
