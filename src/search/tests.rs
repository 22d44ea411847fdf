//! The search in surroundings of its own.

use std::fs;

use super::*;

/// A folder that goes away with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("xla-pjrt-search-{}-{test}", std::process::id());
        let path = env::temp_dir().join(name);
        // An earlier process may have had this number, and ended without clearing up.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// Makes a file, and says where.
    fn file(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(&path, "plugin").expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Searches with these variables alone. The build's own file is left out, since it depends on the features of the test run.
fn search(
    recipe: &Recipe,
    variables: &[(&str, &Path)],
    python: Result<Vec<PathBuf>, String>,
) -> Result<Found, String> {
    let fetched = recipe.fetched.map(|(feature, _)| (feature, None));
    let recipe = Recipe { fetched, ..*recipe };
    let surroundings = Surroundings {
        variable: &|name| {
            let (_, value) = variables.iter().find(|(key, _)| *key == name)?;
            Some(OsString::from(value))
        },
        python_folders: &|| python.clone(),
    };
    outcome(&recipe, &surroundings)
}

fn outcome(recipe: &Recipe, surroundings: &Surroundings<'_>) -> Result<Found, String> {
    let search = search_in(recipe, surroundings);
    let text = search.to_string();
    search.end.map_err(|_| text)
}

fn no_python() -> Result<Vec<PathBuf>, String> {
    Err("not started".to_owned())
}

fn assert_found(result: Result<Found, String>, path: &Path, origin: &str) {
    let found = result.expect("a plugin");
    assert_eq!(found.path, path);
    assert_eq!(found.origin.short(), origin);
}

#[test]
fn places_are_tried_in_order() {
    let folder = Folder::new("order");
    let own = folder.file("own.so");
    let jax = folder.file("jax.so");
    let list = PathBuf::from(format!("tpu:/nowhere, cpu:{}", jax.display()));
    let cached = cache::CPU.path(Path::new(""));
    let cached = folder.file(cached.to_str().expect("text"));
    let packages = "env/lib/python3.11/site-packages";
    let in_environment = folder.file(&format!("{packages}/{}", cache::CPU_0_81.file));
    let in_python = folder.file(&format!("dist-packages/{}", cache::CPU_0_106.file));
    let environment = folder.0.join("env");
    let python = || Ok(vec![folder.0.join("dist-packages")]);

    let all = [
        ("XLA_PJRT_CPU_PLUGIN", own.as_path()),
        (JAX_LIST, list.as_path()),
        ("XLA_PJRT_CACHE", folder.0.as_path()),
        ("VIRTUAL_ENV", environment.as_path()),
    ];
    assert_found(search(&CPU, &all, python()), &own, "XLA_PJRT_CPU_PLUGIN");
    assert_found(search(&CPU, &all[1..], python()), &jax, JAX_LIST);
    assert_found(search(&CPU, &all[2..], python()), &cached, "cache");
    if cfg!(unix) {
        let result = search(&CPU, &all[3..], python());
        assert_found(result, &in_environment, "VIRTUAL_ENV");
    }
    assert_found(search(&CPU, &[], python()), &in_python, "python");
}

#[test]
fn what_the_build_has_fetched_comes_before_the_cache() {
    let folder = Folder::new("baked");
    let path = folder.file("baked.so");
    let baked: &'static str = Box::leak(path.display().to_string().into_boxed_str());
    let fetched = Some(("fetch-cpu", Some(baked)));
    let recipe = Recipe { fetched, ..CPU };
    let surroundings = Surroundings {
        variable: &|_| None,
        python_folders: &no_python,
    };
    assert_found(outcome(&recipe, &surroundings), &path, "feature fetch-cpu");
    drop(folder);
    let error = outcome(&recipe, &surroundings).expect_err("gone");
    assert!(error
        .to_string()
        .contains(&format!("{baked}: no such file")));
}

#[test]
fn newer_wheels_of_a_platform_come_first() {
    let folder = Folder::new("newer");
    let old = folder.file("jax_plugins/xla_cuda12/xla_cuda_plugin.so");
    let python = || Ok(vec![folder.0.clone()]);
    assert_found(search(&CUDA, &[], python()), &old, "python");
    let new = folder.file("jax_plugins/xla_cuda13/xla_cuda_plugin.so");
    assert_found(search(&CUDA, &[], python()), &new, "python");
    let libtpu = folder.file("libtpu/libtpu.so");
    assert_found(search(&TPU, &[], python()), &libtpu, "python");
}

#[test]
fn variable_that_names_no_file_is_an_error_at_once() {
    let folder = Folder::new("bad");
    let good = folder.file("libtpu/libtpu.so");
    let absent = folder.0.join("absent.so");
    let entry = PathBuf::from(format!("tpu:{}", absent.display()));
    let python = || Ok(vec![folder.0.clone()]);
    let wrong = [
        ("XLA_PJRT_TPU_PLUGIN", absent.as_path()),
        ("TPU_LIBRARY_PATH", absent.as_path()),
        (JAX_LIST, entry.as_path()),
    ];
    for (variable, value) in wrong {
        let error = search(&TPU, &[(variable, value)], python()).expect_err("refused");
        assert_eq!(
            error.to_string(),
            format!(
                "{variable} says {}, but that is not a file",
                absent.display()
            )
        );
    }
    let empty = [("XLA_PJRT_TPU_PLUGIN", Path::new(""))];
    assert_found(search(&TPU, &empty, python()), &good, "python");
}

#[test]
fn wheels_of_accelerators_are_found_where_pip_puts_them() {
    let folder = Folder::new("accelerators");
    let packages = "env/lib/python3.11/site-packages";
    let env = folder.0.join("env");
    let environment = [("VIRTUAL_ENV", env.as_path())];
    let tpu = folder.file(&format!("{packages}/libtpu/libtpu.so"));
    assert_found(search(&TPU, &environment, no_python()), &tpu, "VIRTUAL_ENV");
    let cuda12 = "jax_plugins/xla_cuda12/xla_cuda_plugin.so";
    let cuda12 = folder.file(&format!("{packages}/{cuda12}"));
    assert_found(
        search(&CUDA, &environment, no_python()),
        &cuda12,
        "VIRTUAL_ENV",
    );
    // What a feature has fetched comes before, where it can run too.
    for file in [cache::CUDA, cache::TPU].map(|it| it.path(Path::new("cache"))) {
        folder.file(file.to_str().expect("text"));
    }
    let cache = folder.0.join("cache");
    let both = [environment[0], ("XLA_PJRT_CACHE", cache.as_path())];
    assert_found(search(&CUDA, &both, no_python()), &cuda12, "VIRTUAL_ENV");
    let fetched = cache::TPU.path(&cache);
    assert_found(search(&TPU, &both, no_python()), &fetched, "cache");
}

#[test]
fn failure_lists_every_place_and_the_way_out() {
    let tpu = [
        (JAX_LIST, Path::new("cpu:/a.so")),
        ("VIRTUAL_ENV", Path::new("/no/env")),
    ];
    let python = Ok(vec![PathBuf::from("/no/dist-packages")]);
    assert_eq!(
        search(&TPU, &tpu, python).expect_err("nothing").to_string(),
        "no tpu plugin found; tried, in this order:
  - XLA_PJRT_TPU_PLUGIN: not set
  - TPU_LIBRARY_PATH: not set
  - PJRT_NAMES_AND_LIBRARY_PATHS: no entry tpu:PATH in `cpu:/a.so`
  - feature fetch-tpu: not on in this build
  - cache: no folder known, set XLA_PJRT_CACHE
  - VIRTUAL_ENV: no site-packages in /no/env
  - CONDA_PREFIX: not set
  - python: /no/dist-packages: no libtpu/libtpu.so
To get one, build with the feature `fetch-tpu`, or run
    python3 -m pip install libtpu
One that lies elsewhere can be named in XLA_PJRT_TPU_PLUGIN."
    );

    let cpu = [("XLA_PJRT_CACHE", Path::new("/no/cache"))];
    let text = search(&CPU, &cpu, no_python())
        .expect_err("nothing")
        .to_string();
    for part in [
        "feature fetch-cpu: not on in this build",
        "  - cache: /no/cache/lammps-jax-pjrt-cpu-",
        "python: not started",
        "build with the feature `fetch-cpu`",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}
