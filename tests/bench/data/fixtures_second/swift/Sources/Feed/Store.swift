import Foundation

protocol Store: AnyObject {
    associatedtype Item: Identified
    func load(_ id: String) throws -> Item
    func save(_ item: Item)
}

class MemoryStore<Item: Identified>: Store {
    private var items: [String: Item] = [:]
    weak var delegate: StoreDelegate?

    func load(_ id: String) throws -> Item {
        guard let item = items[id] else {
            throw FeedError.missing(id)
        }
        return item
    }

    func save(_ item: Item) {
        items[item.key()] = item
        didSave(item)
    }

    func didSave(_ item: Item) {
        delegate?.stored(id: item.id)
    }

    func filter(_ query: String) -> [Item] {
        items.values.filter { $0.matches(query) }
    }
}

protocol StoreDelegate: AnyObject {
    func stored(id: String)
}

final class ArticleStore: MemoryStore<Article> {
    static let shared = ArticleStore()

    private lazy var index: Index = {
        let index = Index()
        index.rebuild()
        return index
    }()

    override func didSave(_ item: Article) {
        super.didSave(item)
        index.insert(item)
    }

    subscript(id: String) -> Article? {
        try? load(id)
    }
}

final class Index {
    private var words: [String: [Article]] = [:]

    func rebuild() { words.removeAll() }

    func insert(_ article: Article) {
        words[article.summary(), default: []].append(article)
    }

    func first(_ word: String) -> Article? {
        words[word]?.first
    }

    func titles(_ word: String) -> [String] {
        guard let found = words[word] else { return [] }
        return found.map { article in article.title.shortened(to: 3) }
    }
}
