//! How a tree is built.

use std::fmt;

/// How a tree is built: its nodes, the names of their parts, and where its leaves are. The
/// same as a `treedef` of JAX.
#[derive(Clone, PartialEq, Eq)]
pub struct Structure {
    // A leaf has none.
    node: Option<Node>,
}

#[derive(Clone, PartialEq, Eq)]
struct Node {
    name: &'static str,
    children: Vec<(Key, Structure)>,
}

/// What leads from a node to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A field of a struct.
    Field(&'static str),
    /// A position in a tuple, array or `Vec`.
    Index(usize),
    /// A key of a map.
    Entry(String),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Field(name) => write!(f, ".{name}"),
            Key::Index(index) => write!(f, "[{index}]"),
            Key::Entry(key) => write!(f, "[{key:?}]"),
        }
    }
}

impl Structure {
    /// A single buffer.
    pub fn leaf() -> Structure {
        Structure { node: None }
    }

    /// A node with its parts in leaf order. The name is that of the type.
    pub fn node(name: &'static str, children: Vec<(Key, Structure)>) -> Structure {
        Structure {
            node: Some(Node { name, children }),
        }
    }

    /// The name of the node's type; `None` for a leaf.
    pub fn name(&self) -> Option<&'static str> {
        Some(self.node.as_ref()?.name)
    }

    /// The parts of a node in leaf order; none for a leaf.
    #[inline]
    pub fn children(&self) -> &[(Key, Structure)] {
        match &self.node {
            Some(node) => &node.children,
            None => &[],
        }
    }

    /// How many leaves there are.
    pub fn leaf_count(&self) -> usize {
        match &self.node {
            Some(node) => node
                .children
                .iter()
                .map(|(_, child)| child.leaf_count())
                .sum(),
            None => 1,
        }
    }

    /// The path of each leaf, such as `state.opt.mu["w1"]` or `state.layers[0].bias`, below
    /// the given root. Without a root a path begins with the name of a part: `opt.mu["w1"]`.
    pub fn paths(&self, root: &str) -> Vec<String> {
        let mut paths = Vec::new();
        self.walk(&mut root.to_owned(), &mut paths);
        if root.is_empty() {
            for path in paths.iter_mut().filter(|path| path.starts_with('.')) {
                path.remove(0);
            }
        }
        paths
    }

    /// What a leaf is called in messages: by its path, where the tree is more than a leaf.
    pub(crate) fn describe_leaf(&self, leaf: usize) -> String {
        match self.paths("").into_iter().nth(leaf) {
            Some(path) if !path.is_empty() => format!("`{path}`"),
            Some(_) => "the array".to_owned(),
            // A tree written by hand may tell of fewer leaves than it has.
            None => format!("leaf {leaf}"),
        }
    }

    fn walk(&self, path: &mut String, paths: &mut Vec<String>) {
        let Some(node) = &self.node else {
            paths.push(path.clone());
            return;
        };
        for (key, child) in &node.children {
            let length = path.len();
            path.push_str(&key.to_string());
            child.walk(path, paths);
            path.truncate(length);
        }
    }
}

impl fmt::Debug for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(node) = &self.node else {
            return f.write_str("*");
        };
        write!(f, "{}(", node.name)?;
        for (index, (key, child)) in node.children.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{key}: {child:?}")?;
        }
        f.write_str(")")
    }
}
