//! What each case of the folder above gets wrong, in the smallest right way, run on the CPU
//! plugin. Where rustc has nothing to refuse there is a right way alone.

use xla::{Buffer, Client, ClientOptions, CompileOptions, Device, Executable, Plugin, Program};

mod best_kept_by_reference;
mod borrow_escapes_its_scope;
mod borrow_stored_outside_its_scope;
mod borrowed_buffer_given;
mod borrowed_buffer_given_typed;
mod buffer_copied;
mod called_after_donation;
mod checkpoint_by_reference;
mod client_dropped_before_its_buffers;
mod closure_called_twice;
mod given_by_mutable_reference;
mod given_from_a_mutex;
mod given_from_a_vec;
mod given_from_an_arc;
mod given_from_an_rc_typed;
mod given_from_behind_a_reference;
mod given_then_lent;
mod given_then_lent_typed;
mod given_to_two_devices;
mod given_twice;
mod given_twice_typed;
mod given_where_lent;
mod host_value_as_an_argument;
mod init_returns_its_input;
mod lent_buffer_dropped_at_once;
mod lent_then_given;
mod lent_then_given_typed;
mod lent_to_a_thread;
mod lent_where_given;
mod loop_without_reassignment;
mod metrics_reset;
mod model_copied;
mod model_derives_clone;
mod one_argument_without_its_comma;
mod output_taken_by_index;
mod parameter_neither_given_nor_lent;
mod parameter_without_its_comma;
mod part_given_before_the_whole;
mod printed_after_donation;
mod program_alias_of_many_devices;
mod program_called_after_donation;
mod program_declared_per_device;
mod program_for_many_loaded_for_one;
mod program_gives_what_it_keeps;
mod program_lacks_a_leaf;
mod program_lends_what_it_donates;
mod program_of_another_result;
mod program_of_another_state;
mod program_one_inside_a_result;
mod program_parallel_called_after_donation;
mod program_parallel_of_another_result;
mod program_splits_by_reference;
mod program_takes_a_part_of_what_it_donates;
mod program_with_host_arrays_loaded_for_one;
mod program_without_an_argument;
mod program_without_its_file;
mod program_words_exchanged;
mod question_mark_with_lent_arguments;
mod read_after_donation;
mod read_after_donation_in_a_branch;
mod refused_step_keeps_the_state;
mod repeated_for_two_devices;
mod replicas_best_taken_by_index;
mod replicas_given_where_lent;
mod replicas_lent_where_given;
mod replicas_of_borrowed_memory_given;
mod replicas_of_one_tree;
mod replicas_parameter_without_its_mark;
mod replicas_part_kept_over_a_step;
mod replicas_read_after_a_step;
mod replicas_result_without_its_mark;
mod replicas_stepped_without_reassignment;
mod replicas_where_host_arrays_are_split;
mod result_that_is_no_tree;
mod results_of_a_donating_step_are_lent;
mod retried;
mod scope_of_a_future;
mod shared_memory_changed;
mod slice_changed_in_its_scope;
mod slice_made_in_its_scope;
mod slice_replaced_in_its_scope;
mod snapshot_then_donation;
mod state_read_after_donation;
mod step_behind_a_mutable_reference;
mod tree_of_a_union;
mod tree_of_an_enum;
mod tree_run_untyped;
mod tree_skips_without_default;
mod tree_with_a_lifetime;
mod tree_with_a_number;
mod tree_with_shared_weights;
mod view_kept_over_a_donation;
mod view_sent_past_a_donation;

/// `x + x`, in the memory of `x`.
const DOUBLE: &str = "
    func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
      %y = stablehlo.add %x, %x : tensor<2xf32>
      return %y : tensor<2xf32>
    }";

/// The same in memory of its own.
const DOUBLE_KEPT: &str = "
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = stablehlo.add %x, %x : tensor<2xf32>
      return %y : tensor<2xf32>
    }";

/// `x + x` and `n + 1`, in their memory.
const COUNTED: &str = "
    func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32},
                    %n: tensor<i32> {tf.aliasing_output = 1 : i32})
        -> (tensor<2xf32>, tensor<i32>) {
      %y = stablehlo.add %x, %x : tensor<2xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %m = stablehlo.add %n, %one : tensor<i32>
      return %y, %m : tensor<2xf32>, tensor<i32>
    }";

fn cpu() -> xla::Result<(Client, Device)> {
    let client = Client::cpu()?;
    let device = client.device(0)?;
    Ok((client, device))
}

fn pair(device: &Device, values: [f32; 2]) -> xla::Result<Buffer> {
    Buffer::from_host(device, &values, &[2])
}

fn compile(client: &Client, text: &str) -> xla::Result<Executable> {
    client.compile(&Program::from_text(text)?, &CompileOptions::new())
}

/// A client with two devices.
fn two() -> xla::Result<Client> {
    Plugin::cpu()?.client_with(&ClientOptions::new().cpu_device_count(2))
}

/// A program as two replicas.
fn on_two(client: &Client, text: &str) -> xla::Result<Executable> {
    let options = CompileOptions::new().replicas(2);
    client.compile(&Program::from_text(text)?, &options)
}

/// `x - y`, in the memory of `x`, on two devices.
fn subtract_on_two(client: &Client) -> xla::Result<Executable> {
    on_two(client, &pairwise("subtract"))
}

fn double(client: &Client) -> xla::Result<Executable> {
    compile(client, DOUBLE)
}

/// `x + y`, in the memory of `x`.
fn add(client: &Client) -> xla::Result<Executable> {
    compile(client, &pairwise("add"))
}

/// `x - y`, in the memory of `x`.
fn subtract(client: &Client) -> xla::Result<Executable> {
    compile(client, &pairwise("subtract"))
}

fn pairwise(operation: &str) -> String {
    format!(
        "func.func @main(%x: tensor<2xf32> {{tf.aliasing_output = 0 : i32}},
                         %y: tensor<2xf32>) -> tensor<2xf32> {{
           %z = stablehlo.{operation} %x, %y : tensor<2xf32>
           return %z : tensor<2xf32>
         }}"
    )
}

/// `x - y`, in the memory of `x`, and the sum of its squares.
fn subtract_with_loss(client: &Client) -> xla::Result<Executable> {
    compile(
        client,
        "func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32},
                         %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
           %z = stablehlo.subtract %x, %y : tensor<2xf32>
           %loss = stablehlo.dot %z, %z : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
           return %z, %loss : tensor<2xf32>, tensor<f32>
         }",
    )
}
