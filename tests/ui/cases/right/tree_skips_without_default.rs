// A step gives the default of what is skipped.
use xla::{Buffer, Function, Give, Result, Tree};

struct Schedule(f32);

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule(0.5)
    }
}

#[derive(Tree)]
struct State {
    weights: Buffer,
    #[tree(skip)]
    schedule: Schedule,
}

#[test]
fn runs() -> Result<()> {
    let (client, device) = crate::cpu()?;
    let step: Function<(Give<State>,), State> = crate::double(&client)?.typed()?;
    let state = State {
        weights: crate::pair(&device, [3., 5.])?,
        schedule: Schedule(0.25),
    };
    let state = step.call((state,))?;
    assert_eq!(state.weights.to_host::<f32>()?, [6., 10.]);
    assert_eq!(state.schedule.0, 0.5);
    Ok(())
}
